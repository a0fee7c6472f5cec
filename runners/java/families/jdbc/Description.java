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
import java.util.function.Function;
import rowpath.Column;
import rowpath.Failure;
import rowpath.Getter;
import rowpath.Type;

/**
 * What a query's columns are, as java.sql.ResultSetMetaData has it, in the codec's types.
 *
 * <p>A type without a natural one, or that the path cannot take as it, is opaque, never guessed at.
 * The query is executed only where the driver describes nothing before, and then for no more than
 * one row.
 */
final class Description {
  private static final int UNLIMITED = 1_000_000_000; // what drivers report for "no length"
  private static final Set<String> TEXTS = Set.of("inet", "cidr", "macaddr", "enum", "set", "name");

  private Description() {}

  /**
   * The columns of the query; {@code getter} refuses the types that the path cannot take as such.
   */
  static List<Map<String, Object>> of(
      Connection connection, String sql, Function<Column, Getter> getter) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      ResultSetMetaData meta = known(statement);
      if (meta != null) {
        return columns(meta, getter);
      }
      statement.setMaxRows(1);
      try (ResultSet result = statement.executeQuery()) {
        return columns(result.getMetaData(), getter);
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

  private static List<Map<String, Object>> columns(
      ResultSetMetaData meta, Function<Column, Getter> getter) throws SQLException {
    List<Map<String, Object>> columns = new ArrayList<>();
    for (int at = 1; at <= meta.getColumnCount(); at++) {
      columns.add(column(meta, at, getter));
    }
    return columns;
  }

  private static Map<String, Object> column(
      ResultSetMetaData meta, int at, Function<Column, Getter> getter) throws SQLException {
    String engineType = String.valueOf(meta.getColumnTypeName(at));
    int sqlType = meta.getColumnType(at);
    Type type = type(sqlType, engineType.toLowerCase(Locale.ROOT), meta, at);
    boolean decimal =
        type == Type.DECIMAL && !engineType.equals("DECFLOAT"); // its scale floats too
    int precision = decimal ? Math.max(meta.getPrecision(at), 0) : 0;
    int scale = decimal && precision > 0 ? meta.getScale(at) : 0;
    Column column =
        new Column(
            meta.getColumnLabel(at),
            type,
            type == Type.CHAR || type == Type.VARCHAR || type == Type.BINARY ? length(meta, at) : 0,
            scale < 0 ? precision - scale : Math.max(precision, scale),
            Math.max(scale, 0),
            bits(sqlType, engineType, meta, at),
            true); // drivers report what the table declares, behind an outer join too
    return fields(column, takes(getter, column) ? type : Type.OPAQUE, engineType);
  }

  private static boolean takes(Function<Column, Getter> getter, Column column) {
    try {
      getter.apply(column);
      return true;
    } catch (Failure missing) {
      return false;
    }
  }

  private static Map<String, Object> fields(Column column, Type type, String engineType) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", column.name());
    fields.put("type", type.name().toLowerCase(Locale.ROOT));
    fields.put("length", column.length());
    fields.put("precision", column.precision());
    fields.put("scale", column.scale());
    fields.put("bits", column.bits());
    fields.put("nullable", column.nullable());
    fields.put("engine_type", engineType);
    return fields;
  }

  /**
   * Opaque where the codec has no such type. Names first: drivers file what JDBC lacks under
   * others.
   */
  private static Type type(int sqlType, String name, ResultSetMetaData meta, int at)
      throws SQLException {
    if (name.equals("uuid") || name.equals("interval")) {
      return Type.named(name);
    }
    if (name.startsWith("json")) {
      return Type.JSON;
    }
    if (name.equals("timestamptz") || name.equals("timestamp with time zone")) {
      return Type.TIMESTAMPTZ;
    }
    if (name.equals("timetz") || name.equals("money") || name.equals("year")) {
      return Type.OPAQUE;
    }
    return switch (sqlType) {
      case Types.TINYINT, Types.SMALLINT, Types.INTEGER -> Type.INTEGER;
      case Types.BIGINT -> meta.isSigned(at) ? Type.INTEGER : Type.DECIMAL;
      case Types.REAL -> Type.FLOAT32;
      case Types.FLOAT, Types.DOUBLE -> Type.FLOAT64;
      case Types.NUMERIC, Types.DECIMAL -> Type.DECIMAL;
      case Types.BOOLEAN -> Type.BOOLEAN;
      // A string of bits too.
      case Types.BIT ->
          meta.getPrecision(at) <= 1 && !name.equals("bit") ? Type.BOOLEAN : Type.OPAQUE;
      case Types.CHAR, Types.NCHAR -> Type.CHAR;
      case Types.VARCHAR, Types.NVARCHAR -> Type.VARCHAR;
      case Types.LONGVARCHAR, Types.LONGNVARCHAR, Types.CLOB, Types.NCLOB -> Type.TEXT;
      case Types.BINARY, Types.VARBINARY, Types.LONGVARBINARY, Types.BLOB -> Type.BINARY;
      case Types.DATE -> Type.DATE;
      case Types.TIME -> Type.TIME;
      case Types.TIMESTAMP -> Type.TIMESTAMP;
      case Types.TIMESTAMP_WITH_TIMEZONE -> Type.TIMESTAMPTZ;
      case Types.ARRAY -> isOfIntegers(name) ? Type.ARRAY : Type.OPAQUE;
      default -> TEXTS.contains(name.replaceFirst("[( ].*", "")) ? Type.TEXT : Type.OPAQUE;
    };
  }

  /** {@code INTEGER ARRAY}, {@code BIGINT[]}, {@code _int4}, {@code INTEGER ARRAY[8]}. */
  private static boolean isOfIntegers(String name) {
    return name.matches("(_int[248]|(smallint|integer|bigint)( array)?(\\[[0-9]*])?)");
  }

  private static int bits(int sqlType, String engineType, ResultSetMetaData meta, int at)
      throws SQLException {
    boolean wide =
        switch (sqlType) {
          case Types.BIGINT -> true;
          case Types.INTEGER -> !meta.isSigned(at);
          case Types.ARRAY -> engineType.matches("(?i)(bigint.*|_int8)");
          default -> false;
        };
    boolean narrow =
        switch (sqlType) {
          case Types.TINYINT -> true;
          case Types.SMALLINT -> meta.isSigned(at);
          case Types.ARRAY -> engineType.matches("(?i)(smallint.*|_int2)");
          default -> false;
        };
    return wide ? 64 : narrow ? 16 : 32;
  }

  private static int length(ResultSetMetaData meta, int at) throws SQLException {
    int length = meta.getPrecision(at);
    return length < 0 || length >= UNLIMITED ? 0 : length;
  }
}
