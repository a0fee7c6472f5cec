package rowpath.jdbc;

import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.LocalDateTime;
import java.util.List;
import java.util.function.BiFunction;
import rowpath.Column;
import rowpath.Failure;

/** SQL texts with the values inside (statement mode {@code text}). */
public final class Literals {
  private Literals() {}

  /** One text per row: each placeholder outside of quotes replaced by the literal of its value. */
  static String[] texts(
      String sql,
      List<Column> columns,
      Object[][] rows,
      BiFunction<Column, Object, String> literal) {
    if (columns.isEmpty()) { // a question mark is no placeholder then
      return new String[] {sql};
    }
    String[] pieces = split(sql);
    if (pieces.length != columns.size() + 1) {
      throw new Failure(
          "internal", "", (pieces.length - 1) + " placeholders for " + columns.size() + " columns");
    }
    String[] texts = new String[rows.length];
    for (int row = 0; row < rows.length; row++) {
      StringBuilder text = new StringBuilder(pieces[0]);
      for (int at = 0; at < columns.size(); at++) {
        Object value = rows[row][at];
        text.append(value == null ? "NULL" : literal.apply(columns.get(at), value));
        text.append(pieces[at + 1]);
      }
      texts[row] = text.toString();
    }
    return texts;
  }

  /** A quoted string. */
  public static String quoted(Object value) {
    return "'" + value.toString().replace("'", "''") + "'";
  }

  /** A time of day with its seconds, which {@code toString} leaves out when they are 0. */
  public static String time(Object value) {
    String text = value.toString();
    return text.length() == "01:02".length() ? text + ":00" : text;
  }

  /** A timestamp with a blank between date and time. */
  public static String timestamp(Object value) {
    return Timestamp.valueOf((LocalDateTime) value).toString();
  }

  /** Hexadecimal digits. */
  public static String hex(Object bytes) {
    return java.util.HexFormat.of().formatHex((byte[]) bytes);
  }

  /** A number in plain notation. */
  public static String plain(Object number) {
    return number instanceof BigDecimal decimal ? decimal.toPlainString() : number.toString();
  }

  /** The SQL between its question marks outside of quotes. */
  public static String[] split(String sql) {
    List<String> pieces = new java.util.ArrayList<>();
    char quote = 0;
    int from = 0;
    for (int at = 0; at < sql.length(); at++) {
      char character = sql.charAt(at);
      if (quote != 0) {
        quote = character == quote ? 0 : quote;
      } else if (character == '\'' || character == '"') {
        quote = character;
      } else if (character == '?') {
        pieces.add(sql.substring(from, at));
        from = at + 1;
      }
    }
    pieces.add(sql.substring(from));
    return pieces.toArray(String[]::new);
  }
}
