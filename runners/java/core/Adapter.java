package rowpath;

import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/**
 * One driver. Exceptions of any kind are allowed: the core turns them into the protocol's errors.
 */
public interface Adapter {
  /** Connects; returns nothing because what it took is measured by the core. */
  void open(Options options) throws Exception;

  /** The operation of a phase on the open connection; {@code rows} are its parameters. */
  Operation prepare(Phase phase, Object[][] rows) throws Exception;

  /** The columns' getters: what the driver delivers for each. */
  default List<Getter> getters(List<Column> columns) {
    return List.of();
  }

  /** Executes one statement, committed. */
  default void run(String sql) throws Exception {
    throw new Failure("unsupported", "", "this path has no engine that executes statements");
  }

  /** Executes the phase's statement with these rows in one transaction, the driver's quick way. */
  default void load(Phase phase, List<Object[]> rows) throws Exception {
    throw new Failure("unsupported", "", "this path cannot load rows");
  }

  /** Has a long statement stopped in the driver's own way, see {@link Interruption}. */
  default Interruption.Outcome interrupt(Interruption interruption) throws Exception {
    throw new Failure("unsupported", "", "this path has no statements that could be stopped");
  }

  /** The columns that a query delivers, as the protocol's {@code describe} has them. */
  default List<Map<String, Object>> describe(String sql) throws Exception {
    throw new Failure("unsupported", "", "this path has no queries that could be described");
  }

  /** The backend that serves this connection, or null. */
  default Integer serverPid() throws Exception {
    return null;
  }

  /** The reply to {@code facts}, read from the live connection. */
  default void facts(Facts facts) throws Exception {}

  /** Closes what {@code open} opened. */
  default void close() throws Exception {}

  /**
   * {@code driver_version}, {@code engine_version}, {@code build}; settings and libraries by name.
   */
  record Facts(
      Map<String, Object> reply, Map<String, Object> settings, Map<String, Object> libraries) {
    /** The driver's name and version and the engine's name, as JDBC reports them. */
    public void versions(DatabaseMetaData meta, String engineVersion) throws SQLException {
      reply.put("driver_version", meta.getDriverName() + " " + meta.getDriverVersion());
      reply.put("engine_version", meta.getDatabaseProductName() + " " + engineVersion);
    }
  }
}
