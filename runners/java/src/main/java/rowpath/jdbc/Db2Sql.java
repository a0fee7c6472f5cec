package rowpath.jdbc;

import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import rowpath.Column;
import rowpath.Getter;

/**
 * What Db2's family (Derby, Db2 for i) wants of every driver. None knows java.time: dates and times
 * of day are text (java.sql.Date is not proleptic), timestamps java.sql.Timestamp.
 */
public abstract class Db2Sql extends Jdbc {
  @Override
  protected Getter getter(Column column) {
    return switch (column.type()) {
      case DATE -> Getter.function(TextValues.class, "date", LocalDate.class, true);
      case TIME -> Getter.function(TextValues.class, "time", LocalTime.class, true);
      case TIMESTAMP -> Getter.function(SqlValues.class, "timestamp", LocalDateTime.class, false);
      default -> super.getter(column);
    };
  }

  @Override
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case DATE, TIME -> (statement, index, value) -> statement.setString(index, text(value));
      case TIMESTAMP ->
          (statement, index, value) ->
              statement.setTimestamp(index, Timestamp.valueOf((LocalDateTime) value));
      default -> super.setter(column);
    };
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case DATE -> "DATE('" + value + "')";
      case TIME -> "TIME('" + text(value) + "')";
      case TIMESTAMP -> "TIMESTAMP('" + Timestamp.valueOf((LocalDateTime) value) + "')";
      case FLOAT32, FLOAT64 -> exponential(Literals.plain(value));
      case BINARY ->
          "CAST(X'" + Literals.hex(value) + "' AS VARCHAR(" + column.length() + ") FOR BIT DATA)";
      default -> super.literal(column, value);
    };
  }

  /** A time of day with its seconds, which {@code toString} leaves out when they are 0. */
  private static String text(Object value) {
    String text = value.toString();
    return value instanceof LocalTime && text.length() == 5 ? text + ":00" : text;
  }

  /** Only a literal with an exponent is a DOUBLE. */
  private static String exponential(String number) {
    return number.contains("E") ? number : number + "E0";
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    facts.settings().put("schema", ask("SELECT CURRENT SCHEMA FROM SYSIBM.SYSDUMMY1"));
  }
}
