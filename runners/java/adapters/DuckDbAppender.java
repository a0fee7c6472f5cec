package rowpath.adapters;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.UUID;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;
import rowpath.Column;
import rowpath.Failure;
import rowpath.Phase;
import rowpath.jdbc.Bulk;

/** DuckDB's appender: values go into its column chunks one by one, without SQL. */
final class DuckDbAppender implements Bulk {
  private final DuckDBConnection connection;
  private final String table;
  private final Append[] columns;

  /** Appends one value that is not null. */
  private interface Append {
    void append(DuckDBAppender appender, Object value) throws SQLException;
  }

  DuckDbAppender(DuckDBConnection connection, Phase phase) {
    this.connection = connection;
    table = phase.table();
    columns = phase.parameterColumns().stream().map(DuckDbAppender::of).toArray(Append[]::new);
  }

  @Override
  public void store(Object[][] rows, int from, int to) throws SQLException {
    try (DuckDBAppender appender =
        connection.createAppender(DuckDBConnection.DEFAULT_SCHEMA, table)) {
      for (int row = from; row < to; row++) {
        appender.beginRow();
        for (int at = 0; at < columns.length; at++) {
          Object value = rows[row][at];
          if (value == null) {
            appender.appendNull();
          } else {
            columns[at].append(appender, value);
          }
        }
        appender.endRow();
      }
    }
  }

  private static Append of(Column column) {
    return switch (column.type()) {
      case INTEGER ->
          switch (column.bits()) {
            case 128 -> throw missing(column);
            case 16 -> (appender, value) -> appender.append(((Integer) value).shortValue());
            case 32 -> (appender, value) -> appender.append((int) (Integer) value);
            default -> (appender, value) -> appender.append((long) (Long) value);
          };
      // It takes a decimal in the column's own scale only.
      case DECIMAL ->
          (appender, value) -> appender.append(((BigDecimal) value).setScale(column.scale()));
      case FLOAT32 -> (appender, value) -> appender.append((float) (Float) value);
      case FLOAT64 -> (appender, value) -> appender.append((double) (Double) value);
      case BOOLEAN -> (appender, value) -> appender.append((boolean) (Boolean) value);
      case CHAR, VARCHAR, TEXT, JSON -> (appender, value) -> appender.append((String) value);
      case BINARY -> (appender, value) -> appender.append((byte[]) value);
      case DATE -> (appender, value) -> appender.append((LocalDate) value);
      case TIME -> (appender, value) -> appender.append((LocalTime) value);
      case TIMESTAMP -> (appender, value) -> appender.append((LocalDateTime) value);
      case TIMESTAMPTZ -> (appender, value) -> appender.append((OffsetDateTime) value);
      case UUID -> (appender, value) -> appender.append((UUID) value);
      case ARRAY -> (appender, value) -> appender.append(Arrays.asList((Object[]) value));
      case BITS, TIMETZ, INTERVAL, STRUCT, MAP, ROWS, ANY, OPAQUE -> throw missing(column);
    };
  }

  private static Failure missing(Column column) {
    String what = column.type().word() + " (" + column.name() + ")";
    return new Failure("unsupported", "", "DuckDB's appender takes no " + what);
  }
}
