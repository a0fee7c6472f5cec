package rowpath.jdbc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.sql.DataSource;
import rowpath.Adapter;
import rowpath.Failure;
import rowpath.Options;
import rowpath.Pool;

/**
 * A pool of JDBC connections: one {@link DataSource} for the process.
 *
 * <p>It gets its connections from a DataSource of ours, which connects as the driver's adapter
 * does: no pool sees a password.
 */
public abstract class JdbcPool implements Pool {
  /** How long a client waits for a connection before that is an error. */
  protected static final int PATIENCE_MS = 30_000;

  private static final long RETURN_NS =
      500_000_000; // for pools that take back on their own threads
  private static final long LOOK_MS = 5;
  private static final Logger ALL = Logger.getLogger("");

  private DataSource pool;

  /** What a pool asks the server when it lends a connection. */
  protected enum Validation {
    /** {@code profile=shipped}: whatever it does unasked. */
    SHIPPED,
    NONE,
    BORROW
  }

  /** The pool, not yet filled: never more than {@code size} connections, and all are kept open. */
  protected abstract DataSource make(DataSource connections, int size, Validation validation)
      throws SQLException;

  /** How many connections are lent out. */
  protected abstract int lent() throws SQLException;

  /** How many there are. */
  protected abstract int open() throws SQLException;

  /** Closes what {@link #make} made, with its threads. */
  protected abstract void end() throws Exception;

  @Override
  public final void open(Adapter driver, Options options) throws Exception {
    ALL.setLevel(Level.OFF);
    System.setProperty("slf4j.internal.verbosity", "ERROR"); // says else that nothing logs
    Jdbc jdbc = (Jdbc) driver;
    jdbc.options = options;
    int size = (int) options.number("pool_size");
    if (size < 1) {
      throw new Failure("connect", "", "a pool of " + size + " connections");
    }
    try {
      pool = make(new Connections(jdbc), size, validation(options));
      fill(size);
    } catch (RuntimeException refused) {
      throw cause(refused);
    }
  }

  private static Validation validation(Options options) {
    String asked = options.get("validation", "none");
    if (options.get("profile", "").equals("shipped")) {
      return Validation.SHIPPED;
    }
    return switch (asked) {
      case "none" -> Validation.NONE;
      case "borrow" -> Validation.BORROW;
      default -> throw new Failure("unsupported", "", "no pool of Java has validation=" + asked);
    };
  }

  private void fill(int size) throws SQLException {
    List<Connection> all = new ArrayList<>();
    try {
      while (all.size() < size) {
        all.add(pool.getConnection());
      }
    } finally {
      for (Connection one : all) {
        one.close();
      }
    }
  }

  private static Exception cause(RuntimeException failed) {
    for (Throwable cause = failed.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql) {
        return sql;
      }
    }
    return failed;
  }

  @Override
  public final Adapter client(Adapter driver) {
    return new PoolClient((Jdbc) driver, pool);
  }

  @Override
  public final void facts(Adapter.Facts facts) throws Exception {
    long start = System.nanoTime();
    while (lent() > 0 && System.nanoTime() - start < RETURN_NS) {
      Thread.sleep(LOOK_MS);
    }
    facts.settings().put("pool_in_use", String.valueOf(lent()));
    facts.settings().put("pool_open", String.valueOf(open()));
    Class<?> own =
        pool.getClass().isAnonymousClass() ? pool.getClass().getSuperclass() : pool.getClass();
    Path jar = Path.of(own.getProtectionDomain().getCodeSource().getLocation().getPath());
    String[] named = jar.getFileName().toString().split("-(?=[0-9])|[.]jar$");
    facts.libraries().put(named[0], named[1]); // few say their version themselves
  }

  @Override
  public final void close() throws Exception {
    if (pool != null) {
      end();
    }
  }
}
