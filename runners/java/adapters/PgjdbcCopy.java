package rowpath.adapters;

import java.io.IOException;
import java.io.StringReader;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PGInterval;
import rowpath.Column;
import rowpath.Interval;
import rowpath.Phase;
import rowpath.jdbc.Bulk;
import rowpath.jdbc.Literals;

/** COPY FROM STDIN in its text format, which is a transaction of its own. */
final class PgjdbcCopy implements Bulk {
  private final CopyManager manager;
  private final String sql;
  private final List<Column> columns;

  PgjdbcCopy(PGConnection connection, Phase phase) throws SQLException {
    manager = connection.getCopyAPI();
    columns = phase.parameterColumns();
    String names = columns.stream().map(Column::name).collect(Collectors.joining(", "));
    sql = "COPY " + phase.table() + " (" + names + ") FROM STDIN";
  }

  @Override
  public boolean commits() {
    return true;
  }

  @Override
  public void store(Object[][] rows, int from, int to) throws SQLException, IOException {
    StringBuilder text = new StringBuilder();
    for (int row = from; row < to; row++) {
      for (int at = 0; at < rows[row].length; at++) {
        if (at > 0) {
          text.append('\t');
        }
        append(text, rows[row][at]);
      }
      text.append('\n');
    }
    manager.copyIn(sql, new StringReader(text.toString()));
  }

  private static void append(StringBuilder text, Object value) {
    if (value == null) {
      text.append("\\N");
    } else if (value instanceof String string) {
      escape(text, string);
    } else if (value instanceof byte[] bytes) {
      text.append("\\\\x").append(Literals.hex(bytes));
    } else if (value instanceof Interval interval) {
      text.append(interval(interval));
    } else if (value instanceof Object[] elements) {
      text.append(Arrays.toString(elements).replace('[', '{').replace(']', '}')); // of integers
    } else {
      text.append(value);
    }
  }

  private static void escape(StringBuilder text, String value) {
    for (int at = 0; at < value.length(); at++) {
      char character = value.charAt(at);
      switch (character) {
        case '\\' -> text.append("\\\\");
        case '\t' -> text.append("\\t");
        case '\n' -> text.append("\\n");
        case '\r' -> text.append("\\r");
        default -> text.append(character);
      }
    }
  }

  /** A PGInterval, or the text of one without end. */
  static Object interval(Interval value) {
    if (value.equals(Interval.INFINITE) || value.equals(Interval.MINUS_INFINITE)) {
      return value.equals(Interval.INFINITE) ? "infinity" : "-infinity";
    }
    return new PGInterval(0, value.months(), value.days(), 0, 0, value.nanoseconds() / 1e9);
  }
}
