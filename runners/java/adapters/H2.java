package rowpath.adapters;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;
import java.util.Set;
import rowpath.Column;
import rowpath.Getter;
import rowpath.jdbc.ArrayValues;
import rowpath.jdbc.Jdbc;
import rowpath.jdbc.Literals;
import rowpath.jdbc.Setter;

/** H2, embedded and through its TCP server from the same source; it speaks java.time throughout. */
public final class H2 extends Jdbc {
  // Else a statement that is executed again with the same values would hand out its last result
  // without looking at the table.
  private static final String EXECUTE_EACH_TIME = ";OPTIMIZE_REUSE_RESULTS=FALSE";
  private static final String SETTING =
      "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = '%s'";

  @Override
  protected Connection connect() throws SQLException {
    // On a given server no setting is changed that would hold for all, and no database is made.
    boolean given = options.get("given", "no").equals("yes");
    return connect(
        url() + (given ? ";IFEXISTS=TRUE" : EXECUTE_EACH_TIME), login(options.get("user", "SA")));
  }

  /** It tells none. */
  @Override
  protected Set<String> knownSettings(String url, Properties properties) {
    return Set.of("NETWORK_TIMEOUT");
  }

  private String url() {
    if (options.get("deployment", "embedded").equals("embedded")) {
      return "jdbc:h2:file:" + options.need("path");
    }
    String database = options.need("database");
    boolean placed = database.matches("[~/.].*|.*:.*"); // else it is relative to the server's base
    return "jdbc:h2:tcp://" + address() + "/" + (placed ? "" : "./") + database;
  }

  @Override
  protected Getter getter(Column column) {
    return switch (column.type()) {
      // Of times its getArray makes java.sql's, which end with milliseconds.
      case ARRAY ->
          switch (column.fields().get(0).type()) {
            case DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ ->
                Getter.object(column.fields().get(0).natural().arrayType());
            default -> super.getter(column);
          };
      default -> super.getter(column);
    };
  }

  @Override
  protected Setter setter(Column column) {
    return switch (column.type()) {
      case ARRAY -> ArrayValues.setter(column);
      default -> super.setter(column);
    };
  }

  @Override
  protected String literal(Column column, Object value) {
    return switch (column.type()) {
      case FLOAT32, FLOAT64 -> "CAST('" + Literals.plain(value) + "' AS DOUBLE PRECISION)";
      default -> super.literal(column, value);
    };
  }

  @Override
  public void facts(Facts facts) throws SQLException {
    super.facts(facts);
    addSettings(facts, SETTING, "WRITE_DELAY", "QUERY_CACHE_SIZE", "TIME ZONE");
    facts.settings().put("durability", "none");
  }
}
