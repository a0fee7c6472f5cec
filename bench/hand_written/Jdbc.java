import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/**
 * A database through JDBC: one prepared statement, read by key or as a whole. Conversation as in
 * common.h. Where drivers differ a system property says what this driver's users write.
 */
public final class Jdbc {
  /** setString would send a varchar, for which PostgreSQL does not use the index of a CHAR. */
  private static final boolean KEY_AS_CHAR = Boolean.getBoolean("key_as_char");

  private static final boolean TIMESTAMP_AS_TEXT = Boolean.getBoolean("timestamp_as_text");
  private static final boolean TIMESTAMP_OF_JAVA_SQL = Boolean.getBoolean("timestamp_of_java_sql");

  private Jdbc() {}

  private static long keyed(PreparedStatement query, String[] keys, long operations)
      throws SQLException {
    long touch = 0;
    for (long i = 0; i < operations; i++) {
      String key = keys[(int) (i % keys.length)];
      if (KEY_AS_CHAR) {
        query.setObject(1, key, Types.CHAR);
      } else {
        query.setString(1, key);
      }
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          touch += rows.getString(1).length() + rows.getString(2).length();
        }
      }
    }
    return touch;
  }

  private static long scan(PreparedStatement query, long operations) throws SQLException {
    long touch = 0;
    for (long i = 0; i < operations; i++) {
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          touch += rows.getString(1).length();
          touch += rows.getString(2).length();
          touch += rows.getString(3).length();
          touch += timestamp(rows, 4).getSecond();
          touch += rows.getInt(5);
          int user = rows.getInt(6);
          touch += rows.wasNull() ? 1 : user;
          touch += rows.getInt(7);
        }
      }
    }
    return touch;
  }

  private static LocalDateTime timestamp(ResultSet rows, int column) throws SQLException {
    if (TIMESTAMP_AS_TEXT) {
      return parsed(rows.getString(column));
    }
    if (TIMESTAMP_OF_JAVA_SQL) {
      return rows.getTimestamp(column).toLocalDateTime();
    }
    return rows.getObject(column, LocalDateTime.class);
  }

  /** {@code 2000-11-07 01:02:03.456789}; java.time's own parser takes ten times as long. */
  private static LocalDateTime parsed(String text) {
    int nanoseconds = 0;
    int unit = 100_000_000;
    for (int i = 20; i < text.length(); i++, unit /= 10) {
      nanoseconds += (text.charAt(i) - '0') * unit;
    }
    return LocalDateTime.of(
        two(text, 0) * 100 + two(text, 2),
        two(text, 5),
        two(text, 8),
        two(text, 11),
        two(text, 14),
        two(text, 17),
        nanoseconds);
  }

  private static int two(String text, int at) {
    return (text.charAt(at) - '0') * 10 + text.charAt(at + 1) - '0';
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Map<String, String> settings = new HashMap<>();
    for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
      settings.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
    }
    Properties login = new Properties();
    if (settings.containsKey("user")) {
      login.setProperty("user", settings.get("user"));
      login.setProperty("password", settings.get("password"));
    }
    try (Connection connection = DriverManager.getConnection(settings.get("url"), login);
        PreparedStatement query = connection.prepareStatement(settings.get("sql"))) {
      String[] keys =
          settings.containsKey("keys")
              ? Files.readAllLines(Path.of(settings.get("keys"))).toArray(new String[0])
              : null;
      System.out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        long operations = Long.parseLong(line);
        long begin = System.nanoTime();
        long touch = keys == null ? scan(query, operations) : keyed(query, keys, operations);
        long ns = System.nanoTime() - begin;
        System.out.println(ns + " " + Long.toUnsignedString(touch));
      }
    }
  }
}
