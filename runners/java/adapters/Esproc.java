package rowpath.adapters;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
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

/**
 * esProc SPL in this process: whole tables, parts of them and aggregates by cursors over a text
 * file or a composite table.
 */
public final class Esproc implements Adapter {
  private Options options;
  private Connection connection;

  @Override
  public void open(Options options) throws Exception {
    this.options = options;
    Class.forName("com.esproc.jdbc.InternalDriver"); // it does not announce itself
    connection =
        DriverManager.getConnection("jdbc:esproc:local://?config=" + options.need("config"));
  }

  @Override
  public Operation prepare(Phase phase, Object[][] rows) {
    // SPL splits a file itself: operation k of n takes part k, wherever that begins.
    boolean segmented = phase.access().equals("segment");
    String[] texts = new String[segmented ? rows.length : 1];
    for (int part = 0; part < texts.length; part++) {
      texts[part] = "=" + expression(phase, segmented ? (part + 1) + ":" + rows.length : "");
    }
    int fetchSize = options.count("result", "fetch-size");
    RowLoop<EsprocRows> loop =
        RowLoops.of(EsprocRows.class, phase.columns(), getters(phase.columns()));
    return (row, counters) -> {
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(fetchSize);
        ResultSet result = execute(statement, texts[row]);
        counters.executed();
        if (result != null) { // else it is empty
          counters.take(new EsprocRows(result), loop);
        }
      }
    };
  }

  /** SPL's own exceptions are no SQLExceptions. */
  private static ResultSet execute(Statement statement, String expression) throws SQLException {
    try {
      return statement.executeQuery(expression);
    } catch (RuntimeException failed) {
      throw new SQLException(failed);
    }
  }

  private String expression(Phase phase, String part) {
    if (phase.access().equals("aggregate")) {
      return aggregate(phase);
    }
    if (!phase.scan() && part.isEmpty()) {
      throw new Failure("unsupported", "", "this path reads whole tables, and parts of them");
    }
    return cursor(phase.table(), phase.columns(), phase.columns(), part);
  }

  /** A cursor over some columns of the table. */
  private String cursor(String table, List<Column> every, List<Column> columns, String part) {
    boolean text = options.get("storage", "text").equals("text");
    Path file = Path.of(options.need("path"), table + (text ? ".tbl" : ".ctx"));
    List<String> taken = new ArrayList<>();
    for (Column column : columns) {
      int at = every.indexOf(column) + 1;
      taken.add(text ? "#" + at + ":" + type(column) : column.name());
    }
    String names = String.join(",", taken);
    return "file(\""
        + file.toString().replace("\\", "\\\\").replace("\"", "\\\"")
        + (text
            ? "\").cursor@k(" + names + ";" + part + ",\"" + options.need("delimiter") + "\")"
            : "\").open().cursor(" + names + ";;" + part + ")");
  }

  /** As SPL calls the type of a text file's column. */
  private static String type(Column column) {
    return switch (column.type()) {
      case INTEGER -> column.bits() > 32 ? "long" : "int";
      case DECIMAL -> "decimal";
      case CHAR, VARCHAR, TEXT, TIMESTAMP -> "string"; // its datetime keeps milliseconds
      case DATE -> "date";
      default -> throw missing(column);
    };
  }

  private String aggregate(Phase phase) {
    List<Column> used = new ArrayList<>();
    List<String> results = new ArrayList<>();
    for (Column result : phase.columns()) {
      String[] words = result.name().split("_", 2);
      if (words[0].equals("count")) {
        results.add("count(1):" + result.name());
        continue;
      }
      Column source =
          phase.tableColumns().stream()
              .filter(column -> words.length == 2 && column.name().equals(words[1]))
              .findFirst()
              .orElseThrow(() -> new Failure("unsupported", "", "no aggregate " + result.name()));
      if (!used.contains(source)) {
        used.add(source);
      }
      int at = used.indexOf(source) + 1;
      results.add(words[0] + "(#" + at + "):" + result.name());
    }
    if (used.isEmpty()) {
      used.add(phase.tableColumns().get(0));
    }
    return cursor(phase.table(), phase.tableColumns(), used, "")
        + ".groups(;"
        + String.join(",", results)
        + ")";
  }

  @Override
  public List<Getter> getters(List<Column> columns) {
    return columns.stream().map(Esproc::getter).toList();
  }

  private static Getter getter(Column column) {
    return switch (column.type()) {
      case INTEGER -> Getter.integer(column);
      case DECIMAL -> Getter.typed("getDecimal", java.math.BigDecimal.class);
      case CHAR, VARCHAR, TEXT -> Getter.typed("getString", String.class);
      case DATE -> Getter.typed("getDate", java.time.LocalDate.class);
      case TIMESTAMP -> new Getter(null, "getTimestamp", null, java.time.LocalDateTime.class, true);
      default -> throw missing(column);
    };
  }

  private static Failure missing(Column column) {
    return new Failure("unsupported", "", "SPL has no exact " + column.type() + " here");
  }

  @Override
  public void run(String expression) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(expression);
    }
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    facts.versions(connection.getMetaData(), options.need("version"));
    facts.settings().put("storage", options.get("storage", "text"));
    facts.settings().put("fetch_size", String.valueOf(options.count("result", "fetch-size")));
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
