package rowpath.layers;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleConsumer;
import org.jdbi.v3.core.mapper.Nested;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.mapper.reflect.ConstructorMapper;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jdbi.v3.core.statement.SqlStatement;
import rowpath.films.Films;
import rowpath.films.Graph;
import rowpath.jdbc.JdbcLayer;

/**
 * Jdbi: a handle for each operation, a query for each list of objects, in autocommit.
 *
 * <p>Shipped: records by {@link ConstructorMapper}, nested ones by a prefix; rows in batches.
 * Tuned: one handle is kept, mappers take columns by position; one INSERT of many rows.
 */
public final class Jdbi extends JdbcLayer {
  public record Person(int id, String name) {}

  public record Part(String role, @Nested("person") Person person) {}

  public record Review(
      int id, int stars, String body, LocalDateTime written, @Nested("author") Person author) {}

  public record FilmRow(int id, String title, LocalDate released, BigDecimal budget) {}

  public record Film(
      int id,
      String title,
      LocalDate released,
      BigDecimal budget,
      List<Person> directors,
      List<Part> cast,
      List<Review> reviews) {}

  public record Title(int id, String title, LocalDate released) {}

  public record FilmTitle(int id, String title) {}

  public record Opinion(int id, int stars, LocalDateTime written, @Nested("film") FilmTitle film) {}

  public record UserRow(int id, String name, int reviews, int stars) {}

  public record User(int id, String name, int reviews, int stars, List<Opinion> latest) {}

  private static final RowMapper<Person> PERSON = (row, context) -> person(row, 1);
  private static final RowMapper<Part> PART =
      (row, context) -> new Part(row.getString(1), person(row, 2));
  private static final RowMapper<Review> REVIEW =
      (row, context) ->
          new Review(
              row.getInt(1),
              row.getInt(2),
              row.getString(3),
              row.getObject(4, LocalDateTime.class),
              person(row, 5));
  private static final RowMapper<FilmRow> FILM =
      (row, context) ->
          new FilmRow(
              row.getInt(1),
              row.getString(2),
              row.getObject(3, LocalDate.class),
              row.getBigDecimal(4));
  private static final RowMapper<Title> TITLE =
      (row, context) ->
          new Title(row.getInt(1), row.getString(2), row.getObject(3, LocalDate.class));
  private static final RowMapper<Opinion> OPINION =
      (row, context) ->
          new Opinion(
              row.getInt(1),
              row.getInt(2),
              row.getObject(3, LocalDateTime.class),
              new FilmTitle(row.getInt(4), row.getString(5)));
  private static final RowMapper<UserRow> USER =
      (row, context) -> new UserRow(row.getInt(1), row.getString(2), row.getInt(3), row.getInt(4));

  private org.jdbi.v3.core.Jdbi jdbi;
  private Handle kept; // null: a handle for each operation

  /** A query's objects. */
  private interface Lists {
    <T> List<T> of(String sql, Class<T> type, RowMapper<T> mapper, Object... arguments);
  }

  /** An object of a key, by queries. */
  private interface OfKey<T> {
    T of(Lists lists, Object key);
  }

  @Override
  protected void open(Connection connection) {
    jdbi = org.jdbi.v3.core.Jdbi.create(connection);
    for (Class<?> type :
        List.of(
            Person.class,
            Part.class,
            Review.class,
            FilmRow.class,
            Title.class,
            Opinion.class,
            UserRow.class)) {
      jdbi.registerRowMapper(ConstructorMapper.factory(type));
    }
    kept = tuned ? jdbi.open() : null;
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("jdbi3-core", version(org.jdbi.v3.core.Jdbi.class));
  }

  @Override
  protected Objects<?> operation(String name) {
    return switch (name) {
      case "film" -> object(Film.class, Jdbi::film);
      case "user" -> object(User.class, Jdbi::user);
      case "one" -> object(FilmRow.class, Jdbi::one);
      case "search" -> new Objects<>(Title.class, this::search);
      case "page" -> new Objects<>(Title.class, this::page);
      case "add" -> writing(row -> inTransaction(handle -> add(handle, row)));
      case "change" -> writing(this::change);
      case "read_modify_write" ->
          writing(row -> inTransaction(handle -> readModifyWrite(handle, row)));
      default -> null;
    };
  }

  private <T> Objects<T> object(Class<T> type, OfKey<T> deliver) {
    return new Objects<>(type, (row, taker) -> taker.take(with(deliver, row[0])));
  }

  private <T> T with(OfKey<T> deliver, Object key) {
    return tuned
        ? deliver.of(new ByPosition(kept), key)
        : jdbi.withHandle(handle -> deliver.of(new ByName(handle), key));
  }

  /** Shipped: the mapper that is registered for the type. */
  private record ByName(Handle handle) implements Lists {
    @Override
    public <T> List<T> of(String sql, Class<T> type, RowMapper<T> mapper, Object... arguments) {
      return bound(handle.createQuery(sql), arguments).mapTo(type).list();
    }
  }

  /** Tuned: our own mapper. */
  private record ByPosition(Handle handle) implements Lists {
    @Override
    public <T> List<T> of(String sql, Class<T> type, RowMapper<T> mapper, Object... arguments) {
      return bound(handle.createQuery(sql), arguments).map(mapper).list();
    }
  }

  private static <S extends SqlStatement<S>> S bound(S statement, Object... arguments) {
    for (int at = 0; at < arguments.length; at++) {
      statement.bind(at, arguments[at]);
    }
    return statement;
  }

  private static FilmRow one(Lists lists, Object key) {
    return lists.of(Films.FILM, FilmRow.class, FILM, key).get(0);
  }

  private static Film film(Lists lists, Object key) {
    FilmRow film = one(lists, key);
    return new Film(
        film.id(),
        film.title(),
        film.released(),
        film.budget(),
        lists.of(Films.DIRECTORS, Person.class, PERSON, key),
        lists.of(Films.CAST, Part.class, PART, key),
        lists.of(Films.REVIEWS, Review.class, REVIEW, key));
  }

  private static Person person(ResultSet row, int first) throws SQLException {
    return new Person(row.getInt(first), row.getString(first + 1));
  }

  private static User user(Lists lists, Object key) {
    UserRow user = lists.of(Films.TOTALS, UserRow.class, USER, key).get(0);
    List<Opinion> latest = lists.of(Films.OPINIONS, Opinion.class, OPINION, key);
    return new User(user.id(), user.name(), user.reviews(), user.stars(), latest);
  }

  private void search(Object[] row, Taker<Title> taker) throws Exception {
    titles(taker, Films.SEARCH, Films.pattern(row[0]), row[0]);
  }

  private void page(Object[] row, Taker<Title> taker) throws Exception {
    titles(taker, Films.PAGE_OF_FILMS, row[0] + "%", row[1]);
  }

  private void titles(Taker<Title> taker, String sql, Object... arguments) throws Exception {
    OfKey<List<Title>> page = (lists, key) -> lists.of(sql, Title.class, TITLE, arguments);
    for (Title title : with(page, null)) {
      taker.take(title);
    }
  }

  private void inTransaction(HandleConsumer<RuntimeException> work) {
    if (tuned) {
      kept.useTransaction(work);
    } else {
      jdbi.useTransaction(work);
    }
  }

  private void add(Handle handle, Object[] row) {
    int film =
        bound(handle.createUpdate(Films.ADD_FILM), row[0], row[1], row[2])
            .executeAndReturnGeneratedKeys("id")
            .mapTo(int.class)
            .one();
    if (tuned) {
      execute(handle, Films.ADD_DIRECTORS, Graph.directorValues(film, row[3]));
      execute(handle, Films.ADD_ACTORS, Graph.actorValues(film, row[3]));
      return;
    }
    try (PreparedBatch batch = handle.prepareBatch(Films.ADD_DIRECTOR)) {
      for (Graph.DirectorRow one : Graph.directors(row[3])) {
        batch.add(film, one.person(), one.position());
      }
      batch.execute();
    }
    try (PreparedBatch batch = handle.prepareBatch(Films.ADD_ACTOR)) {
      for (Graph.ActorRow one : Graph.cast(row[3])) {
        batch.add(film, one.person(), one.position(), one.role());
      }
      batch.execute();
    }
  }

  private void change(Object[] row) {
    if (tuned) {
      execute(kept, Films.CHANGE, row[1], row[2], row[0]);
    } else {
      jdbi.useHandle(handle -> execute(handle, Films.CHANGE, row[1], row[2], row[0]));
    }
  }

  private static void readModifyWrite(Handle handle, Object[] row) {
    RowMapper<BigDecimal> mapper = (found, context) -> found.getBigDecimal(1);
    BigDecimal budget = bound(handle.createQuery(Films.LOCKED_BUDGET), row[0]).map(mapper).one();
    execute(handle, Films.SET_BUDGET, Films.raised(budget, row[1]), row[0]);
  }

  private static void execute(Handle handle, String sql, Object... arguments) {
    bound(handle.createUpdate(sql), arguments).execute();
  }

  @Override
  public void close() throws Exception {
    if (kept != null) {
      kept.close();
    }
    super.close();
  }
}
