package rowpath.db2;

import java.sql.SQLException;
import rowpath.Column;
import rowpath.Getter;
import rowpath.jdbc.Jdbc;
import rowpath.jdbc.Literals;
import rowpath.jdbc.Setter;
import rowpath.jdbc.SqlValues;
import rowpath.jdbc.TextValues;

/**
 * What Db2's family (Derby, Db2 for i) wants of every JDBC driver. None knows java.time: dates and
 * times of day are text (java.sql.Date is not proleptic), timestamps java.sql.Timestamp.
 */
public abstract class Db2Jdbc extends Jdbc {
  @Override
  protected Getter getter(Column column) {
    return switch (column.type()) {
      case DATE, TIME -> TextValues.getter(column);
      case TIMESTAMP -> SqlValues.getter(column);
      default -> super.getter(column);
    };
  }

  @Override
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case DATE -> (statement, index, value) -> statement.setString(index, value.toString());
      case TIME -> (statement, index, value) -> statement.setString(index, Literals.time(value));
      case TIMESTAMP -> SqlValues.timestampSetter();
      default -> super.setter(column);
    };
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case DATE -> "DATE('" + value + "')";
      case TIME -> "TIME('" + Literals.time(value) + "')";
      case TIMESTAMP -> "TIMESTAMP('" + Literals.timestamp(value) + "')";
      case FLOAT32, FLOAT64 -> exponential(Literals.plain(value));
      case BINARY ->
          "CAST(X'" + Literals.hex(value) + "' AS VARCHAR(" + column.length() + ") FOR BIT DATA)";
      default -> super.literal(column, value);
    };
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
