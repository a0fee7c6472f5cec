package rowpath.jdbc;

import java.sql.Connection;
import java.util.logging.Level;
import java.util.logging.Logger;
import rowpath.Adapter;
import rowpath.Layer;

/**
 * A layer above a JDBC driver, on the connection of the driver's adapter, so that all layers have
 * the same one.
 */
public abstract class JdbcLayer extends Layer {
  private static final Logger ALL = Logger.getLogger("");

  /** The adapter of the driver beneath. */
  Jdbc driver;

  @Override
  protected final void open(Adapter driver) throws Exception {
    this.driver = (Jdbc) driver;
    ALL.setLevel(Level.OFF);
    System.setProperty("slf4j.internal.verbosity", "ERROR"); // says else that nothing logs
    open(this.driver.connection);
  }

  /** Makes the layer ready on the connection, as its documentation says or tuned. */
  protected abstract void open(Connection connection) throws Exception;
}
