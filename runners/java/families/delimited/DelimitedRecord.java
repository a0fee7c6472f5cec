package rowpath.delimited;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.Arrays;
import rowpath.Failure;

/** The current record of a file in the form of RFC 4180; a line without quotes is only split. */
public final class DelimitedRecord extends DelimitedRow {
  private static final char MARK = '\uFEFF';

  private final DelimitedDialect dialect;
  private final DelimitedLines lines;
  private final boolean[] quotedEmpty;
  private final StringBuilder text = new StringBuilder();
  private boolean anyQuotedEmpty;
  private boolean first = true;
  private boolean header;

  /** Records of {@code columns} fields; {@code start}: the reader stands at the file's start. */
  public DelimitedRecord(
      BufferedReader reader, DelimitedDialect dialect, int columns, boolean start) {
    super(reader, dialect.delimiter(), columns);
    this.dialect = dialect;
    lines = new DelimitedLines(reader);
    quotedEmpty = new boolean[columns];
    header = start && dialect.header();
  }

  @Override
  public boolean next() throws IOException {
    if (header) {
      header = false;
      if (!take()) {
        return false;
      }
    }
    return take();
  }

  private boolean take() throws IOException {
    do {
      line = lines.next();
      if (line == null) {
        return false;
      }
      if (first) {
        first = false;
        line = !line.isEmpty() && line.charAt(0) == MARK ? line.substring(1) : line;
      }
    } while (line.isEmpty() && columns > 1);
    anyQuotedEmpty = false;
    if (dialect.hasQuote() && line.indexOf(dialect.quote()) >= 0) {
      unquote();
    } else {
      split();
    }
    return true;
  }

  /** Makes the line what it would be without quotes: values with one sign between them. */
  private void unquote() throws IOException {
    text.setLength(0);
    Arrays.fill(quotedEmpty, false);
    int at = -1;
    int column = 0;
    do {
      if (column == columns) {
        throw new Failure("verify", "", "a record of more than " + columns + " values");
      }
      starts[column] = text.length();
      at++;
      if (at < line.length() && line.charAt(at) == dialect.quote()) {
        at = quoted(at + 1);
        quotedEmpty[column] = text.length() == starts[column];
        anyQuotedEmpty |= quotedEmpty[column];
      } else {
        int stop = line.indexOf(dialect.delimiter(), at);
        stop = stop < 0 ? line.length() : stop;
        text.append(line, at, stop);
        at = stop;
      }
      column++;
      text.append(dialect.delimiter());
    } while (at < line.length() && line.charAt(at) == dialect.delimiter());
    if (at < line.length()) {
      throw new Failure("verify", "", "text follows a closing quote");
    }
    if (column < columns) {
      throw new Failure("verify", "", "a record of fewer than " + columns + " values");
    }
    starts[columns] = text.length();
    line = text.toString();
  }

  /** Appends a quoted value, which may go on in further lines; the place behind its quote. */
  private int quoted(int from) throws IOException {
    int at = from;
    while (true) {
      int stop = line.indexOf(dialect.quote(), at);
      if (stop < 0) {
        text.append(line, at, line.length()).append(lines.ending());
        line = lines.next();
        if (line == null) {
          throw new Failure("verify", "", "a quote is not closed");
        }
        at = 0;
        continue;
      }
      text.append(line, at, stop);
      at = stop + 1;
      if (at == line.length() || line.charAt(at) != dialect.quote()) {
        return at;
      }
      text.append(dialect.quote());
      at++;
    }
  }

  @Override
  protected boolean isNull(int column) {
    boolean empty = end(column) == from(column);
    wasNull =
        empty
            && (anyQuotedEmpty && quotedEmpty[column - 1]
                ? dialect.quotedIsNull()
                : dialect.emptyIsNull());
    return wasNull;
  }
}
