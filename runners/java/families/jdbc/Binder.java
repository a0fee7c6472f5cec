package rowpath.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import java.util.function.Function;
import rowpath.Column;

/** Binds rows of parameters, each column by its setter; NULL by its SQL type. */
final class Binder {
  private final Setter[] setters;
  private final int[] sqlTypes;

  Binder(List<Column> columns, Function<Column, Setter> setter) {
    setters = columns.stream().map(setter).toArray(Setter[]::new);
    sqlTypes = columns.stream().mapToInt(Binder::sqlType).toArray();
  }

  /** Binds row {@code row}; nothing where the statement has no parameters. */
  void bind(PreparedStatement statement, Object[][] rows, int row) throws SQLException {
    if (setters.length > 0) {
      bind(statement, rows[row]);
    }
  }

  void bind(PreparedStatement statement, Object[] values) throws SQLException {
    for (int at = 0; at < setters.length; at++) {
      if (values[at] == null) {
        statement.setNull(at + 1, sqlTypes[at]);
      } else {
        setters[at].set(statement, at + 1, values[at]);
      }
    }
  }

  private static int sqlType(Column column) {
    return switch (column.type()) {
      case INTEGER ->
          column.bits() > 64 ? Types.DECIMAL : column.bits() > 32 ? Types.BIGINT : Types.INTEGER;
      case DECIMAL -> Types.DECIMAL;
      case FLOAT32 -> Types.REAL;
      case FLOAT64 -> Types.DOUBLE;
      case BOOLEAN -> Types.BOOLEAN;
      case CHAR -> Types.CHAR;
      case VARCHAR, TEXT -> Types.VARCHAR;
      case BINARY -> Types.VARBINARY;
      case DATE -> Types.DATE;
      case TIME -> Types.TIME;
      case TIMESTAMP -> Types.TIMESTAMP;
      case TIMESTAMPTZ -> Types.TIMESTAMP_WITH_TIMEZONE;
      case TIMETZ -> Types.TIME_WITH_TIMEZONE;
      case ARRAY -> Types.ARRAY;
      case BITS, JSON, INTERVAL, UUID, STRUCT, MAP, ROWS, ANY, OPAQUE -> Types.OTHER;
    };
  }
}
