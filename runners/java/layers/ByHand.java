package rowpath.layers;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import rowpath.films.Films;
import rowpath.films.Films.Film;
import rowpath.films.Films.FilmOnly;
import rowpath.films.Films.FilmTitle;
import rowpath.films.Films.Opinion;
import rowpath.films.Films.Part;
import rowpath.films.Films.Person;
import rowpath.films.Films.Review;
import rowpath.films.Films.Title;
import rowpath.films.Films.User;
import rowpath.films.WritesByHand;
import rowpath.jdbc.JdbcLayer;

/**
 * No layer: programs by hand on a bare driver, each with the technique that the path names.
 *
 * <p>{@code queries}: one statement for each list of objects. {@code server}: one statement, in
 * which the server makes JSON of what is nested, or does the work. {@code lazy}: one statement for
 * each object, as it is met. {@code join}: one statement of joins, whose product is folded here.
 */
public final class ByHand extends JdbcLayer {
  private static final String DIRECTOR_KEYS =
      "SELECT person_id FROM directors WHERE film_id = ? ORDER BY position";
  private static final String ACTOR_KEYS =
      "SELECT role, person_id FROM actors WHERE film_id = ? ORDER BY position";
  private static final String REVIEW_KEYS =
      "SELECT id, stars, body, written, user_id FROM reviews WHERE film_id = ?"
          + " ORDER BY written DESC, id DESC";
  private static final String PERSON = "SELECT id, name FROM people WHERE id = ?";
  private static final String AUTHOR = "SELECT id, name FROM users WHERE id = ?";
  private static final String OPINION_KEYS =
      "SELECT id, stars, written, film_id FROM reviews WHERE user_id = ?"
          + " ORDER BY written DESC, id DESC LIMIT "
          + Films.LATEST;
  private static final String FILM_TITLE = "SELECT id, title FROM films WHERE id = ?";
  private static final String WHOLE_FILM =
      "SELECT f.id, f.title, f.released, f.budget,"
          + " (SELECT coalesce(json_agg(json_build_array(p.id, p.name) ORDER BY d.position), '[]')"
          + " FROM directors d JOIN people p ON p.id = d.person_id WHERE d.film_id = f.id),"
          + " (SELECT coalesce(json_agg(json_build_array(a.role, p.id, p.name)"
          + " ORDER BY a.position), '[]')"
          + " FROM actors a JOIN people p ON p.id = a.person_id WHERE a.film_id = f.id),"
          + " (SELECT coalesce(json_agg(json_build_array(r.id, r.stars, r.body, r.written, u.id,"
          + " u.name) ORDER BY r.written DESC, r.id DESC), '[]')"
          + " FROM reviews r JOIN users u ON u.id = r.user_id WHERE r.film_id = f.id)"
          + " FROM films f WHERE f.id = ?";
  private static final String WHOLE_USER =
      "SELECT u.id, u.name, (SELECT count(*) FROM reviews r WHERE r.user_id = u.id), (SELECT"
          + " coalesce(sum(r.stars), 0) FROM reviews r WHERE r.user_id = u.id), (SELECT"
          + " coalesce(json_agg(json_build_array(r.id, r.stars, r.written, f.id, f.title) ORDER BY"
          + " r.written DESC, r.id DESC), '[]') FROM (SELECT * FROM reviews WHERE user_id = u.id"
          + " ORDER BY written DESC, id DESC LIMIT "
          + Films.LATEST
          + ") r JOIN films f ON f.id = r.film_id) FROM users u WHERE u.id = ?";

  private static final JsonFactory JSON = new JsonFactory();

  private final Map<String, PreparedStatement> statements = new HashMap<>();
  private Connection connection;
  private boolean keeps;
  private WritesByHand writes;

  /** Makes an object of a row. */
  private interface Maker<T> {
    T of(ResultSet row) throws SQLException;
  }

  /** Makes an object of a JSON array, its parser before the first element. */
  private interface JsonMaker<T> {
    T of(JsonParser json) throws IOException;
  }

  @Override
  protected void open(Connection connection) {
    this.connection = connection;
    keeps = options.get("statement", "prepared").equals("prepared");
    writes = new WritesByHand(connection, keeps);
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("jackson-core", version(JsonFactory.class));
  }

  @Override
  protected Objects<?> operation(String name) {
    return switch (name + " by " + options.need("technique")) {
      case "film by queries" -> object(Film.class, this::film);
      case "film by lazy" -> object(Film.class, this::filmByLazy);
      case "film by server" -> object(Film.class, this::filmByServer);
      case "user by queries" -> object(User.class, this::user);
      case "user by lazy" -> object(User.class, this::userByLazy);
      case "user by server" -> object(User.class, this::userByServer);
      case "film by join" -> object(Film.class, this::filmByJoin);
      case "user by join" -> object(User.class, this::userByJoin);
      case "one by queries" -> object(FilmOnly.class, this::one);
      case "search by queries" -> new Objects<>(Title.class, this::search);
      case "page by queries" -> new Objects<>(Title.class, this::page);
      default -> writes.operation(name, options.need("technique"));
    };
  }

  /** An object of a key. */
  private interface OfKey<T> {
    T of(Object key) throws Exception;
  }

  private static <T> Objects<T> object(Class<T> type, OfKey<T> deliver) {
    return new Objects<>(type, (row, taker) -> taker.take(deliver.of(row[0])));
  }

  private <T> List<T> list(String sql, Maker<T> maker, Object... arguments) throws SQLException {
    List<T> objects = new ArrayList<>();
    PreparedStatement statement = keeps ? statements.get(sql) : null;
    if (statement == null) {
      statement = connection.prepareStatement(sql);
    }
    for (int at = 0; at < arguments.length; at++) {
      statement.setObject(at + 1, arguments[at]);
    }
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        objects.add(maker.of(rows));
      }
    }
    if (!keeps) {
      statement.close();
    } else {
      statements.put(sql, statement);
    }
    return objects;
  }

  private Film film(Object key) throws SQLException {
    List<Person> directors = list(Films.DIRECTORS, row -> person(row, 1), key);
    List<Part> cast = list(Films.CAST, row -> new Part(row.getString(1), person(row, 2)), key);
    List<Review> reviews = list(Films.REVIEWS, row -> review(row, person(row, 5)), key);
    return film(key, directors, cast, reviews);
  }

  private Film filmByLazy(Object key) throws SQLException {
    List<Person> directors = list(DIRECTOR_KEYS, row -> person(PERSON, row.getInt(1)), key);
    List<Part> cast =
        list(ACTOR_KEYS, row -> new Part(row.getString(1), person(PERSON, row.getInt(2))), key);
    List<Review> reviews =
        list(REVIEW_KEYS, row -> review(row, person(AUTHOR, row.getInt(5))), key);
    return film(key, directors, cast, reviews);
  }

  private Film film(Object key, List<Person> directors, List<Part> cast, List<Review> reviews)
      throws SQLException {
    Maker<Film> maker =
        row ->
            new Film(
                row.getInt(1),
                row.getString(2),
                row.getObject(3, LocalDate.class),
                row.getBigDecimal(4),
                directors,
                cast,
                reviews);
    return list(Films.FILM, maker, key).get(0);
  }

  private static Person person(ResultSet row, int first) throws SQLException {
    return new Person(row.getInt(first), row.getString(first + 1));
  }

  private Person person(String sql, int key) throws SQLException {
    return list(sql, row -> person(row, 1), key).get(0);
  }

  private static Review review(ResultSet row, Person author) throws SQLException {
    LocalDateTime written = row.getObject(4, LocalDateTime.class);
    return new Review(row.getInt(1), row.getInt(2), row.getString(3), written, author);
  }

  private User user(Object key) throws SQLException {
    return user(
        key,
        list(
            Films.OPINIONS,
            row -> opinion(row, new FilmTitle(row.getInt(4), row.getString(5))),
            key));
  }

  private User userByLazy(Object key) throws SQLException {
    return user(key, list(OPINION_KEYS, row -> opinion(row, filmTitle(row.getInt(4))), key));
  }

  private User user(Object key, List<Opinion> latest) throws SQLException {
    Maker<User> maker =
        row -> new User(row.getInt(1), row.getString(2), row.getInt(3), row.getInt(4), latest);
    return list(Films.TOTALS, maker, key).get(0);
  }

  private static Opinion opinion(ResultSet row, FilmTitle film) throws SQLException {
    LocalDateTime written = row.getObject(3, LocalDateTime.class);
    return new Opinion(row.getInt(1), row.getInt(2), written, film);
  }

  private FilmTitle filmTitle(int key) throws SQLException {
    return list(FILM_TITLE, row -> new FilmTitle(row.getInt(1), row.getString(2)), key).get(0);
  }

  private Film filmByServer(Object key) throws SQLException {
    Maker<Film> maker =
        row ->
            new Film(
                row.getInt(1),
                row.getString(2),
                row.getObject(3, LocalDate.class),
                row.getBigDecimal(4),
                nested(row.getString(5), ByHand::person),
                nested(row.getString(6), json -> new Part(text(json), person(json))),
                nested(
                    row.getString(7),
                    json ->
                        new Review(
                            number(json), number(json), text(json), moment(json), person(json))));
    return list(WHOLE_FILM, maker, key).get(0);
  }

  private User userByServer(Object key) throws SQLException {
    JsonMaker<Opinion> opinion =
        json ->
            new Opinion(
                number(json), number(json), moment(json), new FilmTitle(number(json), text(json)));
    Maker<User> maker =
        row ->
            new User(
                row.getInt(1),
                row.getString(2),
                row.getInt(3),
                row.getInt(4),
                nested(row.getString(5), opinion));
    return list(WHOLE_USER, maker, key).get(0);
  }

  /** The objects of a JSON array of arrays. */
  private static <T> List<T> nested(String text, JsonMaker<T> maker) throws SQLException {
    List<T> objects = new ArrayList<>();
    try (JsonParser json = JSON.createParser(text)) {
      json.nextToken();
      while (json.nextToken() == JsonToken.START_ARRAY) {
        objects.add(maker.of(json));
        json.nextToken();
      }
    } catch (IOException broken) {
      throw new SQLException(broken);
    }
    return objects;
  }

  private static int number(JsonParser json) throws IOException {
    return json.nextIntValue(0);
  }

  private static String text(JsonParser json) throws IOException {
    return json.nextTextValue(); // null for NULL
  }

  private static LocalDateTime moment(JsonParser json) throws IOException {
    return LocalDateTime.parse(text(json));
  }

  private static Person person(JsonParser json) throws IOException {
    return new Person(number(json), text(json));
  }

  /** The product of a film's lists, folded by the children's keys. */
  private Film filmByJoin(Object key) throws SQLException {
    Map<Integer, Person> directors = new LinkedHashMap<>();
    Map<Integer, Part> cast = new LinkedHashMap<>();
    Map<Integer, Review> reviews = new LinkedHashMap<>();
    Maker<Film> maker =
        row -> {
          fold(directors, row, 5, () -> person(row, 6));
          fold(cast, row, 8, () -> new Part(row.getString(9), person(row, 10)));
          fold(reviews, row, 12, () -> review(row));
          return row.isFirst() ? film(row) : null;
        };
    Film film = list(Films.FILM_BY_JOIN, maker, key).get(0);
    return new Film(
        film.id(),
        film.title(),
        film.released(),
        film.budget(),
        List.copyOf(directors.values()),
        List.copyOf(cast.values()),
        List.copyOf(reviews.values()));
  }

  /** Makes a child. */
  private interface Child<T> {
    T make() throws SQLException;
  }

  private static <T> void fold(Map<Integer, T> children, ResultSet row, int key, Child<T> child)
      throws SQLException {
    int id = row.getInt(key);
    if (!row.wasNull() && !children.containsKey(id)) {
      children.put(id, child.make());
    }
  }

  private static Review review(ResultSet row) throws SQLException {
    LocalDateTime written = row.getObject(15, LocalDateTime.class);
    return new Review(row.getInt(12), row.getInt(13), row.getString(14), written, person(row, 16));
  }

  private static Film film(ResultSet row) throws SQLException {
    return new Film(
        row.getInt(1),
        row.getString(2),
        row.getObject(3, LocalDate.class),
        row.getBigDecimal(4),
        List.of(),
        List.of(),
        List.of());
  }

  private User userByJoin(Object key) throws SQLException {
    Map<Integer, Opinion> latest = new LinkedHashMap<>();
    Maker<User> maker =
        row -> {
          fold(latest, row, 5, () -> joinedOpinion(row));
          return new User(row.getInt(1), row.getString(2), row.getInt(3), row.getInt(4), null);
        };
    User user = list(Films.USER_BY_JOIN, maker, key).get(0);
    return new User(
        user.id(), user.name(), user.reviews(), user.stars(), List.copyOf(latest.values()));
  }

  private static Opinion joinedOpinion(ResultSet row) throws SQLException {
    LocalDateTime written = row.getObject(7, LocalDateTime.class);
    FilmTitle film = new FilmTitle(row.getInt(8), row.getString(9));
    return new Opinion(row.getInt(5), row.getInt(6), written, film);
  }

  private void search(Object[] row, Taker<Title> taker) throws Exception {
    titles(taker, Films.SEARCH, Films.pattern(row[0]), row[0]);
  }

  private void page(Object[] row, Taker<Title> taker) throws Exception {
    titles(taker, Films.PAGE_OF_FILMS, row[0] + "%", row[1]);
  }

  private FilmOnly one(Object key) throws SQLException {
    Maker<FilmOnly> maker =
        row ->
            new FilmOnly(
                row.getInt(1),
                row.getString(2),
                row.getObject(3, LocalDate.class),
                row.getBigDecimal(4));
    return list(Films.FILM, maker, key).get(0);
  }

  private void titles(Taker<Title> taker, String sql, Object... arguments) throws Exception {
    Maker<Title> maker =
        row -> new Title(row.getInt(1), row.getString(2), row.getObject(3, LocalDate.class));
    for (Title title : list(sql, maker, arguments)) {
      taker.take(title);
    }
  }

  @Override
  public void close() throws Exception {
    for (PreparedStatement statement : statements.values()) {
      statement.close();
    }
    writes.close();
    super.close();
  }
}
