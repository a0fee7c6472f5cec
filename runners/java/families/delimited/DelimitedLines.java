package rowpath.delimited;

import java.io.IOException;
import java.io.Reader;

/**
 * Lines that end at a line feed, or at a carriage return and a line feed: no other sign ends one.
 */
final class DelimitedLines {
  private final Reader reader;
  private char[] buffer = new char[1 << 16];
  private int at;
  private int end;
  private boolean carriage;

  DelimitedLines(Reader reader) {
    this.reader = reader;
  }

  /** The next line without its end; null when there is none. */
  String next() throws IOException {
    int from = at;
    while (true) {
      for (; from < end; from++) {
        if (buffer[from] == '\n') {
          return taken(from, from + 1);
        }
      }
      from = end - at;
      if (!fill()) {
        return at == end ? null : taken(end, end);
      }
    }
  }

  /** What the line had at its end. */
  String ending() {
    return carriage ? "\r\n" : "\n";
  }

  private String taken(int last, int next) {
    int first = at;
    carriage = next > last && last > first && buffer[last - 1] == '\r';
    at = next;
    return new String(buffer, first, last - first - (carriage ? 1 : 0));
  }

  /** Reads more behind what is kept, which goes to the front; false at the end. */
  private boolean fill() throws IOException {
    char[] into = end - at > buffer.length / 2 ? new char[2 * buffer.length] : buffer;
    System.arraycopy(buffer, at, into, 0, end - at);
    buffer = into;
    end -= at;
    at = 0;
    int count = reader.read(buffer, end, buffer.length - end);
    end += Math.max(count, 0);
    return count >= 0;
  }
}
