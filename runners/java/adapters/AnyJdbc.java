package rowpath.adapters;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import rowpath.Column;
import rowpath.Failure;
import rowpath.Getter;
import rowpath.jdbc.Jdbc;

/** Any driver in a jar that the user names, to a URL that the user gives; it only reads. */
public final class AnyJdbc extends Jdbc {
  @Override
  protected Connection connect() throws SQLException {
    String url = options.need("url");
    Properties properties = new Properties();
    for (String name : new String[] {"user", "password"}) {
      if (options.get(name, null) != null) {
        properties.setProperty(name, options.get(name, null));
      }
    }
    if (DriverManager.drivers().noneMatch(driver -> accepts(driver, url))) {
      String scheme = url.replaceFirst("^(jdbc:[^:]*:).*", "$1");
      throw new Failure("connect", "", "no driver in the jar takes URLs that begin with " + scheme);
    }
    Connection fresh = connect(url, properties);
    try {
      fresh.setReadOnly(true);
      return fresh;
    } catch (SQLException refused) {
      fresh.close();
      throw new Failure("unsupported", "", "no read-only connection: " + refused.getMessage());
    }
  }

  private static boolean accepts(java.sql.Driver driver, String url) {
    try {
      return driver.acceptsURL(url);
    } catch (SQLException refused) {
      return false;
    }
  }

  @Override
  protected Getter getter(Column column) {
    return switch (column.type()) {
      case DATE, TIME, TIMESTAMP, TIMESTAMPTZ, UUID -> AnyValues.getter(column);
      default -> super.getter(column);
    };
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    facts.settings().put("read_only", connection.isReadOnly() ? "on" : "off");
    facts.settings().put("dates", AnyValues.means());
  }
}
