package rowpath.jdbc;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import rowpath.Adapter;
import rowpath.Column;
import rowpath.Failure;
import rowpath.Getter;
import rowpath.Interruption;
import rowpath.Operation;
import rowpath.Options;
import rowpath.Phase;
import rowpath.RowLoop;
import rowpath.RowLoops;

/** What all JDBC drivers share; a driver's own adapter connects, and overrides what differs. */
public abstract class Jdbc implements Adapter {
  /** The path's coordinates and the engine's options. */
  protected Options options;

  /** The connection that is measured. */
  protected Connection connection;

  /** A fresh connection with the path's options. */
  protected abstract Connection connect() throws SQLException;

  /** The login, and the options of an engine that is given by URL. */
  protected Properties login() {
    return login(options.need("user"));
  }

  /** The same for a user whom the options need not name. */
  protected Properties login(String user) {
    Properties properties = new Properties();
    properties.setProperty("user", user);
    properties.setProperty("password", options.get("password", ""));
    take(properties, "url_options");
    return properties;
  }

  private void take(Properties properties, String option) {
    for (String line : options.get(option, "").split("\n")) {
      int end = line.indexOf('=');
      if (end > 0) {
        properties.setProperty(line.substring(0, end), line.substring(end + 1));
      } else if (!line.isEmpty()) {
        properties.setProperty(line, "");
      }
    }
  }

  /** A connection with these properties and the driver's own settings. */
  protected Connection connect(String url, Properties properties) throws SQLException {
    addDriverSettings(url, properties);
    return DriverManager.getConnection(url, properties);
  }

  /** The option {@code driver_settings}. Most drivers ignore a name that they do not know. */
  protected void addDriverSettings(String url, Properties properties) throws SQLException {
    Properties settings = new Properties();
    take(settings, "driver_settings");
    if (settings.isEmpty()) {
      return;
    }
    Set<String> known = knownSettings(url, properties);
    for (String name : settings.stringPropertyNames()) {
      if (!known.contains(name)) {
        throw new Failure("unsupported", "", "unknown setting '" + name + "'");
      }
    }
    properties.putAll(settings);
  }

  /** The names of the settings that the driver tells. */
  protected Set<String> knownSettings(String url, Properties properties) throws SQLException {
    return Arrays.stream(DriverManager.getDriver(url).getPropertyInfo(url, properties))
        .map(setting -> setting.name)
        .collect(Collectors.toSet());
  }

  /** Host and port of a server, of several hosts each with the port. */
  protected String address() {
    String port = ":" + options.need("port");
    return options.get("host", "127.0.0.1").replace(",", port + ",") + port;
  }

  /** How a column is taken; the typed getters of JDBC 4.2 unless the driver differs. */
  protected Getter getter(Column column) {
    return switch (column.type()) {
      case INTEGER -> Getter.integer(column);
      case DECIMAL -> Getter.typed("getBigDecimal", BigDecimal.class);
      case FLOAT32 -> Getter.typed("getFloat", float.class);
      case FLOAT64 -> Getter.typed("getDouble", double.class);
      case BOOLEAN -> Getter.typed("getBoolean", boolean.class);
      case CHAR, VARCHAR, TEXT, JSON -> Getter.typed("getString", String.class);
      case BINARY -> Getter.typed("getBytes", byte[].class);
      case DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ, UUID -> Getter.object(column.natural());
      case ARRAY -> ArrayValues.getter();
      case BITS, INTERVAL, STRUCT, MAP, ROWS, ANY, OPAQUE ->
          Getter.typed("getObject", Object.class);
    };
  }

  /** How a parameter is bound. */
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case INTEGER ->
          column.bits() > 64
              ? (statement, index, value) -> statement.setBigDecimal(index, (BigDecimal) value)
              : column.bits() > 32
                  ? (statement, index, value) -> statement.setLong(index, (Long) value)
                  : (statement, index, value) -> statement.setInt(index, (Integer) value);
      case DECIMAL ->
          (statement, index, value) -> statement.setBigDecimal(index, (BigDecimal) value);
      case FLOAT32 -> (statement, index, value) -> statement.setFloat(index, (Float) value);
      case FLOAT64 -> (statement, index, value) -> statement.setDouble(index, (Double) value);
      case BOOLEAN -> (statement, index, value) -> statement.setBoolean(index, (Boolean) value);
      case CHAR, VARCHAR, TEXT, JSON ->
          (statement, index, value) -> statement.setString(index, (String) value);
      case BINARY -> (statement, index, value) -> statement.setBytes(index, (byte[]) value);
      case DATE, TIME, TIMESTAMP, TIMESTAMPTZ, UUID -> PreparedStatement::setObject;
      case BITS, TIMETZ, INTERVAL, ARRAY, STRUCT, MAP, ROWS, ANY, OPAQUE -> throw missing(column);
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

  /**
   * Rows a round trip: {@code result=cursor:n}, in a transaction, or {@code fetch-size:n}, without
   * one; 0 where it is left to the driver.
   */
  protected int fetchSize() {
    return Math.max(options.count("result", "cursor"), options.count("result", "fetch-size"));
  }

  /** Whether the driver fetches in portions ({@code result=cursor:n}) only inside a transaction. */
  protected boolean cursorTakesTransaction() {
    return true;
  }

  /** Whether the program prepares a statement for each execution. */
  protected boolean preparesEachTime() {
    return statementMode().equals("bound");
  }

  /** Whether the driver must prepare a text, because it takes an unprepared query for an update. */
  protected boolean preparesTexts() {
    return false;
  }

  /**
   * The driver's bulk way {@code way} (the coordinate {@code bulk}); JDBC's {@code batch} unless an
   * adapter has its own.
   *
   * <p>Called at {@code prepare}, outside the clock, once for each connection. {@code rows} are all
   * of the phase's parameters; {@link Bulk#store} gets the same array.
   */
  protected Bulk bulk(String way, Phase phase, Object[][] rows) throws SQLException {
    if (!way.equals("batch")) {
      throw new Failure("unsupported", "", "this path has no bulk way " + way);
    }
    if (statementMode().equals("text")) {
      return new Batch.Text(connection.createStatement(), texts(phase, rows));
    }
    return preparesEachTime()
        ? new Batch.Bound(connection, phase.sql(), binder(phase))
        : new Batch.Prepared(connection.prepareStatement(phase.sql()), binder(phase));
  }

  @Override
  public void open(Options options) throws Exception {
    this.options = options;
    connection = connect();
  }

  @Override
  public Operation prepare(Phase phase, Object[][] rows) throws Exception {
    for (int at = 0; at < phase.parameterColumns().size(); at++) {
      check(phase.parameterColumns().get(at), rows, at);
    }
    return switch (phase.kind()) {
      case "connect" -> connecting(phase);
      case "query" -> {
        Operation query = statement(phase, rows, loop(phase), fetchSize());
        boolean cursor = options.count("result", "cursor") > 0 && cursorTakesTransaction();
        yield phase.transaction() || cursor ? inTransaction(query) : query;
      }
      case "execute" -> {
        Operation execute = statement(phase, rows, null, 0);
        yield phase.transaction() ? inTransaction(execute) : execute;
      }
      case "load" -> storing(phase, rows);
      default ->
          throw new Failure("unsupported", "", "JDBC has no operation of kind " + phase.kind());
    };
  }

  /** The same on a pool's connections: each operation borrows one, and returns it. */
  final Operation borrowing(DataSource pool, Phase phase, Object[][] rows) throws SQLException {
    for (int at = 0; at < phase.parameterColumns().size(); at++) {
      check(phase.parameterColumns().get(at), rows, at);
    }
    boolean query = phase.kind().equals("query");
    if (!query && !phase.kind().equals("execute")) {
      throw new Failure("unsupported", "", "no operation of kind " + phase.kind() + " on a pool");
    }
    RowLoop<ResultSet> loop = query ? loop(phase) : null;
    int fetchSize = query ? fetchSize() : 0;
    boolean cursor = query && options.count("result", "cursor") > 0 && cursorTakesTransaction();
    Borrowing.Work work =
        statementMode().equals("text")
            ? new Borrowing.Text(texts(phase, rows), fetchSize, loop)
            : new Borrowing.Prepared(prepared(phase), fetchSize, binder(phase), rows, loop);
    boolean transaction = phase.transaction() || cursor;
    return new Borrowing(pool, transaction ? new Borrowing.InTransaction(work) : work);
  }

  private void check(Column column, Object[][] rows, int at) {
    for (Object[] row : rows) {
      if (row[at] != null && !takes(column, row[at])) {
        throw new Failure("unsupported", "", "no parameter " + row[at] + " of " + column.name());
      }
    }
  }

  /** Whether a parameter's value can be bound: NaN is no BigDecimal, 2⁶⁴ − 1 no long. */
  protected boolean takes(Column column, Object value) {
    return switch (column.type()) {
      case INTEGER -> column.bits() > 64 || !(value instanceof BigDecimal);
      case DECIMAL -> value instanceof BigDecimal;
      default -> true;
    };
  }

  private Operation connecting(Phase phase) {
    RowLoop<ResultSet> loop = loop(phase);
    return (row, counters) -> {
      long start = System.nanoTime();
      try (Connection fresh = connect()) {
        counters.connectNs += System.nanoTime() - start;
        try (Statement statement = fresh.createStatement()) {
          Statements.take(statement.executeQuery(phase.sql()), loop, counters);
        }
      }
    };
  }

  private Operation storing(Phase phase, Object[][] rows) throws SQLException {
    int size = phase.rowsPerOperation();
    if (!phase.way().equals("bulk")) {
      return new Statements.InTransaction(connection, statement(phase, rows, null, 0), size);
    }
    Bulk bulk = bulk(options.get("bulk", "none"), phase, rows);
    Operation stored = new Statements.Stored(bulk, rows, size);
    return bulk.commits() ? stored : inTransaction(stored);
  }

  private Operation inTransaction(Operation operation) {
    return new Statements.InTransaction(connection, operation, 1);
  }

  private String statementMode() {
    String mode = options.get("statement", "prepared");
    if (!List.of("prepared", "bound", "text").contains(mode)) {
      throw new Failure("unsupported", "", "JDBC has no statement mode " + mode);
    }
    return mode;
  }

  private Operation statement(Phase phase, Object[][] rows, RowLoop<ResultSet> loop, int fetchSize)
      throws SQLException {
    if (statementMode().equals("text") && preparesTexts()) {
      return new Statements.PreparedText(connection, texts(phase, rows), loop);
    }
    if (statementMode().equals("text")) {
      Statement statement = connection.createStatement();
      statement.setFetchSize(fetchSize);
      return new Statements.Text(statement, texts(phase, rows), loop);
    }
    return new Statements.Prepared(
        connection, prepared(phase), fetchSize, binder(phase), rows, loop, !preparesEachTime());
  }

  /** The SQL as the driver prepares it. */
  protected String prepared(Phase phase) {
    return phase.sql();
  }

  private Binder binder(Phase phase) {
    return new Binder(phase.parameterColumns(), this::setter);
  }

  private String[] texts(Phase phase, Object[][] rows) {
    return Literals.texts(phase.sql(), phase.parameterColumns(), rows, this::literal);
  }

  private RowLoop<ResultSet> loop(Phase phase) {
    return RowLoops.of(ResultSet.class, phase.columns(), getters(phase.columns()));
  }

  @Override
  public List<Getter> getters(List<Column> columns) {
    return columns.stream().map(this::getter).toList();
  }

  @Override
  public List<Map<String, Object>> describe(String sql) throws SQLException {
    return Description.of(connection, sql);
  }

  @Override
  public void run(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void load(Phase phase, List<Object[]> rows) throws SQLException {
    Binder binder = binder(phase);
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
  public Interruption.Outcome interrupt(Interruption interruption) throws Exception {
    return LongStatement.stop(connection, interruption);
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    DatabaseMetaData meta = connection.getMetaData();
    facts.versions(meta, meta.getDatabaseProductVersion());
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

  /** Records settings, each as the answer to {@code query} with its name in place of {@code %s}. */
  protected void addSettings(Facts facts, String query, String... names) throws SQLException {
    for (String name : names) {
      facts.settings().put(name, ask(query.formatted(name)));
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
        "no parameter of type " + column.type().word() + " here (" + column.name() + ")");
  }
}
