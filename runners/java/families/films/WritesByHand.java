package rowpath.films;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import rowpath.Layer;
import rowpath.Layer.Objects;

/** What programs by hand write over JDBC, each with the technique that the path names. */
public final class WritesByHand implements AutoCloseable {
  private static final String ADD_WHOLE =
      "WITH film AS ("
          + Films.ADD_FILM
          + " RETURNING id), direction AS (INSERT INTO directors_added (film_id, person_id,"
          + " position) SELECT film.id, new.person, new.at - 1 FROM film, unnest(?) WITH ORDINALITY"
          + " AS new (person, at) ORDER BY new.at) INSERT INTO actors_added (film_id, person_id,"
          + " position, role) SELECT film.id, new.person, new.at - 1, new.role FROM film,"
          + " unnest(?, ?) WITH ORDINALITY AS new (person, role, at) ORDER BY new.at";
  private static final String RAISE_BUDGET =
      "UPDATE films_changed SET budget = coalesce(budget, 0) + ? WHERE id = ?";

  private final Map<String, PreparedStatement> statements = new HashMap<>();
  private final Connection connection;
  private final boolean keeps;

  /** {@code keeps}: whether statements stay prepared. */
  public WritesByHand(Connection connection, boolean keeps) {
    this.connection = connection;
    this.keeps = keeps;
  }

  /** The operation with that technique; null where there is none. */
  public Objects<?> operation(String name, String technique) {
    return switch (name + " by " + technique) {
      case "add by queries" -> Layer.writing(row -> inTransaction(() -> add(row)));
      case "add by lazy" -> Layer.writing(row -> inTransaction(() -> addByLazy(row)));
      case "add by server" -> Layer.writing(this::addByServer);
      case "change by queries" -> Layer.writing(this::change);
      case "read_modify_write by queries" ->
          Layer.writing(row -> inTransaction(() -> readModifyWrite(row)));
      case "read_modify_write by server" -> Layer.writing(this::readModifyWriteByServer);
      default -> null;
    };
  }

  /** Statements of one transaction. */
  private interface Statements {
    void run() throws SQLException;
  }

  private void inTransaction(Statements work) throws SQLException {
    connection.setAutoCommit(false);
    try {
      work.run();
      connection.commit();
    } catch (SQLException | RuntimeException failed) {
      connection.rollback();
      throw failed;
    } finally {
      connection.setAutoCommit(true);
    }
  }

  private void add(Object[] row) throws SQLException {
    int film = addFilm(row);
    execute(Films.ADD_DIRECTORS, Graph.directorValues(film, row[3]));
    execute(Films.ADD_ACTORS, Graph.actorValues(film, row[3]));
  }

  private void addByLazy(Object[] row) throws SQLException {
    int film = addFilm(row);
    for (Graph.DirectorRow one : Graph.directors(row[3])) {
      execute(Films.ADD_DIRECTOR, film, one.person(), one.position());
    }
    for (Graph.ActorRow one : Graph.cast(row[3])) {
      execute(Films.ADD_ACTOR, film, one.person(), one.position(), one.role());
    }
  }

  private int addFilm(Object[] row) throws SQLException {
    String returning = Films.ADD_FILM + " RETURNING id";
    PreparedStatement statement = prepared(returning, row[0], row[1], row[2]);
    try (ResultSet rows = statement.executeQuery()) {
      rows.next();
      return rows.getInt(1);
    } finally {
      done(statement);
    }
  }

  private void addByServer(Object[] row) throws SQLException {
    Object[] directors = Graph.directors(row[3]).stream().map(Graph.DirectorRow::person).toArray();
    Object[] cast = Graph.cast(row[3]).stream().map(Graph.ActorRow::person).toArray();
    Object[] roles = Graph.cast(row[3]).stream().map(Graph.ActorRow::role).toArray();
    execute(
        ADD_WHOLE,
        row[0],
        row[1],
        row[2],
        connection.createArrayOf("integer", directors),
        connection.createArrayOf("integer", cast),
        connection.createArrayOf("text", roles));
  }

  private void change(Object[] row) throws SQLException {
    execute(Films.CHANGE, row[1], row[2], row[0]);
  }

  private void readModifyWriteByServer(Object[] row) throws SQLException {
    execute(RAISE_BUDGET, row[1], row[0]);
  }

  private void readModifyWrite(Object[] row) throws SQLException {
    PreparedStatement statement = prepared(Films.LOCKED_BUDGET, row[0]);
    BigDecimal budget;
    try (ResultSet rows = statement.executeQuery()) {
      rows.next();
      budget = rows.getBigDecimal(1);
    } finally {
      done(statement);
    }
    execute(Films.SET_BUDGET, Films.raised(budget, row[1]), row[0]);
  }

  private void execute(String sql, Object... values) throws SQLException {
    PreparedStatement statement = prepared(sql, values);
    try {
      statement.executeUpdate();
    } finally {
      done(statement);
    }
  }

  private PreparedStatement prepared(String sql, Object... values) throws SQLException {
    PreparedStatement statement = statements.get(sql);
    if (statement == null) {
      statement = connection.prepareStatement(sql);
      if (keeps) {
        statements.put(sql, statement);
      }
    }
    for (int at = 0; at < values.length; at++) {
      statement.setObject(at + 1, values[at]);
    }
    return statement;
  }

  private void done(PreparedStatement statement) throws SQLException {
    if (!keeps) {
      statement.close();
    }
  }

  @Override
  public void close() throws SQLException {
    for (PreparedStatement statement : statements.values()) {
      statement.close();
    }
  }
}
