package rowpath.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import rowpath.Type;

/**
 * What a query's columns are, as java.sql.ResultSetMetaData has it, in the codec's types.
 *
 * <p>A type without a natural one is opaque, never guessed at. The query is executed only where the
 * driver describes nothing before, and then for no more than one row.
 */
final class Description {
  private static final int UNLIMITED = 1_000_000_000; // what drivers report for "no length"
  private static final Set<String> TEXTS = Set.of("enum", "set", "name", "inet4", "inet6");

  /** {@code INTEGER ARRAY}, {@code BIGINT[]}, {@code INTEGER ARRAY[8]}, {@code _int4}. */
  private static final Pattern ARRAY =
      Pattern.compile("_(?<inner>.+)|(?<element>.+?)(?: array)?(?:\\[[0-9]*])|(?<named>.+) array");

  private Description() {}

  /** The columns of the query. */
  static List<Map<String, Object>> of(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      ResultSetMetaData meta = known(statement);
      if (meta != null) {
        return columns(meta);
      }
      statement.setMaxRows(1);
      try (ResultSet result = statement.executeQuery()) {
        return columns(result.getMetaData());
      }
    }
  }

  /** Null where the driver knows no columns before it has executed. */
  private static ResultSetMetaData known(PreparedStatement statement) {
    try {
      ResultSetMetaData meta = statement.getMetaData();
      return meta != null && meta.getColumnCount() > 0 ? meta : null;
    } catch (SQLException unknown) {
      return null;
    }
  }

  private static List<Map<String, Object>> columns(ResultSetMetaData meta) throws SQLException {
    List<Map<String, Object>> columns = new ArrayList<>();
    for (int at = 1; at <= meta.getColumnCount(); at++) {
      columns.add(column(meta, at));
    }
    return columns;
  }

  private static Map<String, Object> column(ResultSetMetaData meta, int at) throws SQLException {
    String engineType = String.valueOf(meta.getColumnTypeName(at));
    String name = engineType.toLowerCase(Locale.ROOT);
    int sqlType = meta.getColumnType(at);
    Map<String, Object> column = new LinkedHashMap<>();
    column.put("name", meta.getColumnLabel(at));
    if (sqlType == Types.ARRAY) {
      column.putAll(array(name));
    } else {
      Type type = type(sqlType, name, meta, at);
      column.put("type", type.word());
      size(column, type, engineType, meta, at);
      if (type == Type.INTEGER) {
        column.put("bits", bits(sqlType, name, meta, at));
      }
    }
    column.put(
        "nullable", true); // drivers report what the table declares, behind an outer join too
    column.put("engine_type", engineType);
    return column;
  }

  private static void size(
      Map<String, Object> column, Type type, String engineType, ResultSetMetaData meta, int at)
      throws SQLException {
    switch (type) {
      case CHAR, VARCHAR, BINARY, BITS -> {
        int length = meta.getPrecision(at);
        column.put("length", length < 0 || length >= UNLIMITED ? 0 : length);
      }
      case DECIMAL -> {
        boolean floats = engineType.equals("DECFLOAT"); // its scale too
        int precision = floats ? 0 : Math.max(meta.getPrecision(at), 0);
        int scale = precision > 0 ? meta.getScale(at) : 0;
        column.put("precision", scale < 0 ? precision - scale : Math.max(precision, scale));
        column.put("scale", Math.max(scale, 0));
      }
      default -> {}
    }
  }

  /**
   * Opaque where the codec has no such type. Names first: drivers file what JDBC lacks under
   * others.
   */
  private static Type type(int sqlType, String name, ResultSetMetaData meta, int at)
      throws SQLException {
    Type named = named(name);
    if (named != null) {
      return named;
    }
    return switch (sqlType) {
      case Types.TINYINT, Types.SMALLINT, Types.INTEGER, Types.BIGINT -> Type.INTEGER;
      case Types.REAL -> Type.FLOAT32;
      case Types.FLOAT, Types.DOUBLE -> Type.FLOAT64;
      case Types.NUMERIC, Types.DECIMAL -> Type.DECIMAL;
      case Types.BOOLEAN -> Type.BOOLEAN;
      case Types.BIT -> meta.getPrecision(at) <= 1 ? Type.BOOLEAN : Type.BITS;
      case Types.CHAR, Types.NCHAR -> Type.CHAR;
      case Types.VARCHAR, Types.NVARCHAR -> Type.VARCHAR;
      case Types.LONGVARCHAR, Types.LONGNVARCHAR, Types.CLOB, Types.NCLOB -> Type.TEXT;
      case Types.BINARY, Types.VARBINARY, Types.LONGVARBINARY, Types.BLOB -> Type.BINARY;
      case Types.DATE -> Type.DATE;
      case Types.TIME -> Type.TIME;
      case Types.TIME_WITH_TIMEZONE -> Type.TIMETZ;
      case Types.TIMESTAMP -> Type.TIMESTAMP;
      case Types.TIMESTAMP_WITH_TIMEZONE -> Type.TIMESTAMPTZ;
      default -> TEXTS.contains(name.replaceFirst("[( ].*", "")) ? Type.TEXT : Type.OPAQUE;
    };
  }

  /** The type of names that say more than JDBC's type; null for all others. */
  private static Type named(String name) {
    return switch (name.replaceFirst("\\(.*", "")) {
      case "uuid" -> Type.UUID;
      case "interval" -> Type.INTERVAL;
      case "json", "jsonb" -> Type.JSON;
      case "timestamptz", "timestamp with time zone" -> Type.TIMESTAMPTZ;
      case "timetz", "time with time zone" -> Type.TIMETZ;
      case "bit", "varbit", "bit varying" -> Type.BITS;
      case "tinyint", "tinyint unsigned", "year", "xid", "cid", "hugeint", "uhugeint" ->
          Type.INTEGER;
      case "money" -> Type.OPAQUE;
      default -> null;
    };
  }

  private static int bits(int sqlType, String name, ResultSetMetaData meta, int at)
      throws SQLException {
    return switch (name) {
      case "year" -> 16;
      case "xid", "cid" -> 64;
      case "hugeint", "uhugeint" -> 128;
      default ->
          switch (sqlType) {
            case Types.BIGINT -> meta.isSigned(at) ? 64 : 128;
            case Types.INTEGER -> meta.isSigned(at) ? 32 : 64;
            case Types.SMALLINT -> meta.isSigned(at) ? 16 : 32;
            default -> 16;
          };
    };
  }

  /** An array, by its name alone; opaque where its elements are. */
  private static Map<String, Object> array(String name) {
    Matcher found = ARRAY.matcher(name);
    if (!found.matches()) {
      return Map.of("type", Type.OPAQUE.word());
    }
    String inner = found.group("inner");
    String element = inner != null ? inner : found.group("element");
    Map<String, Object> field = element(element != null ? element : found.group("named"));
    if (field == null) {
      return Map.of("type", Type.OPAQUE.word());
    }
    field.put("name", "");
    field.put("nullable", true);
    return Map.of("type", Type.ARRAY.word(), "fields", List.of(field));
  }

  private static Map<String, Object> element(String name) {
    if (ARRAY.matcher(name).matches()) {
      Map<String, Object> array = array(name);
      return array.containsKey("fields") ? new LinkedHashMap<>(array) : null;
    }
    Map<String, Object> field = new LinkedHashMap<>();
    String plain = name.replaceFirst("\\(.*\\)", "");
    int bits =
        switch (plain) {
          case "int2", "smallint", "tinyint" -> 16;
          case "int4", "integer", "int" -> 32;
          case "int8", "bigint", "oid", "xid", "cid" -> 64;
          case "hugeint" -> 128;
          default -> 0;
        };
    if (bits > 0) {
      field.put("bits", bits);
    }
    Type type = bits > 0 ? Type.INTEGER : named(plain);
    if (type == null) {
      type =
          switch (plain) {
            case "numeric", "decimal", "decfloat" -> Type.DECIMAL;
            case "float4", "real" -> Type.FLOAT32;
            case "float8", "double", "double precision" -> Type.FLOAT64;
            case "bool", "boolean" -> Type.BOOLEAN;
            case "bpchar", "character", "char" -> Type.CHAR;
            case "varchar", "character varying", "varchar_ignorecase" -> Type.VARCHAR;
            case "text", "name", "character large object", "clob" -> Type.TEXT;
            case "bytea", "binary", "binary varying", "varbinary", "blob" -> Type.BINARY;
            case "date" -> Type.DATE;
            case "time" -> Type.TIME;
            case "timestamp" -> Type.TIMESTAMP;
            default -> Type.OPAQUE;
          };
    }
    field.put("type", type.word());
    return type == Type.OPAQUE ? null : field;
  }
}
