package rowpath.adapters;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import rowpath.Column;
import rowpath.jdbc.Jdbc;
import rowpath.jdbc.Literals;
import rowpath.jdbc.Setter;

/**
 * Oracle's thin driver, to a server that is given by URL; its database is the service's name.
 * Written by the driver's documentation: it has met no server yet.
 */
public final class Ojdbc extends Jdbc {
  private static final String CACHED_STATEMENTS = "25";

  @Override
  protected Connection connect() throws SQLException {
    Properties properties = login();
    // setObject of a String compares as a CHAR does, blanks aside: see the setter.
    properties.setProperty("fixedString", "true");
    if (fetchSize() > 0) {
      properties.setProperty("defaultRowPrefetch", String.valueOf(fetchSize()));
    }
    if (options.get("prepare_cache", "").equals("on")) {
      properties.setProperty("oracle.jdbc.implicitStatementCacheSize", CACHED_STATEMENTS);
    }
    return DriverManager.getConnection(
        "jdbc:oracle:thin:@//" + address() + "/" + options.need("database"), properties);
  }

  /** Every result comes in portions. */
  @Override
  protected boolean cursorTakesTransaction() {
    return false;
  }

  @Override
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case CHAR -> (statement, index, value) -> statement.setObject(index, value);
      default -> super.setter(column);
    };
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case BOOLEAN -> (Boolean) value ? "1" : "0"; // kept as NUMBER(1)
      case FLOAT32 -> Literals.plain(value) + "f";
      case FLOAT64 -> Literals.plain(value) + "d";
      case BINARY -> "HEXTORAW('" + Literals.hex(value) + "')";
      case DATE -> "DATE '" + value + "'";
      case TIMESTAMP -> "TIMESTAMP '" + Literals.timestamp(value) + "'";
      default -> super.literal(column, value);
    };
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    facts.settings().put("time_zone", ask("SELECT SESSIONTIMEZONE FROM DUAL"));
  }
}
