package rowpath.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import rowpath.Adapter;
import rowpath.Column;
import rowpath.Failure;
import rowpath.Getter;
import rowpath.Operation;
import rowpath.Options;
import rowpath.Phase;
import rowpath.RowLoop;
import rowpath.RowLoops;

/** What all JDBC drivers share; a driver's own adapter says how to connect and where it differs. */
public abstract class Jdbc implements Adapter {
  /** The path's coordinates and the engine's options. */
  protected Options options;

  /** The connection that is measured. */
  protected Connection connection;

  /** A fresh connection with the path's options. */
  protected abstract Connection connect() throws SQLException;

  /** How a column is taken; the typed getters of JDBC 4.2 unless the driver differs. */
  protected Getter getter(Column column) {
    return switch (column.type()) {
      case INTEGER ->
          column.bits() > 32
              ? Getter.typed("getLong", long.class)
              : Getter.typed("getInt", int.class);
      case DECIMAL -> Getter.typed("getBigDecimal", java.math.BigDecimal.class);
      case FLOAT32 -> Getter.typed("getFloat", float.class);
      case FLOAT64 -> Getter.typed("getDouble", double.class);
      case BOOLEAN -> Getter.typed("getBoolean", boolean.class);
      case CHAR, VARCHAR, TEXT, JSON -> Getter.typed("getString", String.class);
      case BINARY -> Getter.typed("getBytes", byte[].class);
      case DATE -> Getter.object(java.time.LocalDate.class);
      case TIME -> Getter.object(java.time.LocalTime.class);
      case TIMESTAMP -> Getter.object(java.time.LocalDateTime.class);
      case TIMESTAMPTZ -> Getter.object(java.time.OffsetDateTime.class);
      case UUID -> Getter.object(java.util.UUID.class);
      case INTERVAL, ARRAY -> throw missing(column);
    };
  }

  /** How a parameter is bound. */
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case INTEGER ->
          column.bits() > 32
              ? (statement, index, value) -> statement.setLong(index, (Long) value)
              : (statement, index, value) -> statement.setInt(index, (Integer) value);
      case DECIMAL ->
          (statement, index, value) -> statement.setBigDecimal(index, (java.math.BigDecimal) value);
      case FLOAT32 -> (statement, index, value) -> statement.setFloat(index, (Float) value);
      case FLOAT64 -> (statement, index, value) -> statement.setDouble(index, (Double) value);
      case BOOLEAN -> (statement, index, value) -> statement.setBoolean(index, (Boolean) value);
      case CHAR, VARCHAR, TEXT, JSON ->
          (statement, index, value) -> statement.setString(index, (String) value);
      case BINARY -> (statement, index, value) -> statement.setBytes(index, (byte[]) value);
      case DATE, TIME, TIMESTAMP, TIMESTAMPTZ, UUID -> PreparedStatement::setObject;
      case INTERVAL, ARRAY -> throw missing(column);
    };
  }

  /** The SQL literal of a value that is not null. */
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case INTEGER, DECIMAL, FLOAT32, FLOAT64 -> Literals.plain(value);
      case BOOLEAN -> (Boolean) value ? "TRUE" : "FALSE";
      case BINARY -> "X'" + Literals.hex(value) + "'";
      default -> Literals.quoted(value);
    };
  }

  /** Rows a round trip; 0 where the result is not fetched by a cursor. */
  protected int fetchSize() {
    return 0;
  }

  @Override
  public void open(Options options) throws Exception {
    this.options = options;
    connection = connect();
  }

  @Override
  public Operation prepare(Phase phase, Object[][] rows) throws Exception {
    if (phase.kind().equals("connect")) {
      RowLoop<ResultSet> loop = loop(phase);
      return (row, tally) -> {
        long start = System.nanoTime();
        try (Connection fresh = connect()) {
          tally.connectNs += System.nanoTime() - start;
          try (Statement statement = fresh.createStatement();
              ResultSet result = statement.executeQuery(phase.sql())) {
            tally.executed();
            tally.take(result, loop);
          }
        }
      };
    }
    boolean query = phase.kind().equals("query");
    if (!query && !phase.kind().equals("execute")) {
      throw new Failure("unsupported", "", "JDBC has no operation of kind " + phase.kind());
    }
    int fetchSize = query ? fetchSize() : 0;
    Operation operation = statement(phase, rows, query ? loop(phase) : null, fetchSize);
    return phase.transaction() || fetchSize > 0
        ? new Statements.InTransaction(connection, operation)
        : operation;
  }

  private Operation statement(Phase phase, Object[][] rows, RowLoop<ResultSet> loop, int fetchSize)
      throws SQLException {
    String mode = options.get("statement", "prepared");
    Binder binder = new Binder(phase.parameterColumns(), this::setter);
    switch (mode) {
      case "prepared":
        PreparedStatement prepared = connection.prepareStatement(phase.sql());
        prepared.setFetchSize(fetchSize);
        return new Statements.Prepared(prepared, binder, rows, loop);
      case "bound":
        return new Statements.Bound(connection, phase.sql(), fetchSize, binder, rows, loop);
      case "text":
        Statement statement = connection.createStatement();
        statement.setFetchSize(fetchSize);
        String[] texts = Literals.texts(phase.sql(), phase.parameterColumns(), rows, this::literal);
        return new Statements.Text(statement, texts, loop);
      default:
        throw new Failure("unsupported", "", "JDBC has no statement mode " + mode);
    }
  }

  private RowLoop<ResultSet> loop(Phase phase) {
    return RowLoops.of(ResultSet.class, phase.columns(), getters(phase.columns()));
  }

  @Override
  public List<Getter> getters(List<Column> columns) {
    return columns.stream().map(this::getter).toList();
  }

  @Override
  public void run(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void load(Phase phase, List<Object[]> rows) throws SQLException {
    Binder binder = new Binder(phase.parameterColumns(), this::setter);
    connection.setAutoCommit(false);
    try (PreparedStatement statement = connection.prepareStatement(phase.sql())) {
      // Not as a batch: Derby passes a batch's dates through java.sql.Date, which is not proleptic.
      for (Object[] row : rows) {
        binder.bind(statement, row);
        statement.executeUpdate();
      }
    } catch (SQLException failed) {
      connection.rollback();
      throw failed;
    } finally {
      connection.setAutoCommit(true);
    }
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    DatabaseMetaData meta = connection.getMetaData();
    facts.reply().put("driver_version", meta.getDriverName() + " " + meta.getDriverVersion());
    facts
        .reply()
        .put(
            "engine_version",
            meta.getDatabaseProductName() + " " + meta.getDatabaseProductVersion());
    facts.settings().put("autocommit", connection.getAutoCommit() ? "on" : "off");
    facts
        .settings()
        .put(
            "isolation",
            switch (connection.getTransactionIsolation()) {
              case Connection.TRANSACTION_READ_UNCOMMITTED -> "read uncommitted";
              case Connection.TRANSACTION_READ_COMMITTED -> "read committed";
              case Connection.TRANSACTION_REPEATABLE_READ -> "repeatable read";
              case Connection.TRANSACTION_SERIALIZABLE -> "serializable";
              default -> "none";
            });
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(fetchSize());
      facts.settings().put("fetch_size", String.valueOf(statement.getFetchSize()));
    }
  }

  /** The single value of a query, as text. */
  protected String ask(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      return result.next() ? result.getString(1) : "";
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }

  private static Failure missing(Column column) {
    return new Failure(
        "unsupported",
        "",
        "JDBC has no natural type for " + column.type() + " (" + column.name() + ")");
  }
}
