package rowpath.layers;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementCreator;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;
import org.springframework.transaction.support.TransactionTemplate;
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
import rowpath.films.Graph;
import rowpath.jdbc.JdbcLayer;

/**
 * Spring's JdbcTemplate: a query and a RowMapper for each list of objects, in autocommit.
 *
 * <p>Shipped: columns by name, records by {@link DataClassRowMapper}, rows in batches. Tuned:
 * columns by position, one INSERT of many rows. What takes several statements is in a
 * TransactionTemplate.
 */
public final class SpringJdbcTemplate extends JdbcLayer {
  private static final RowMapper<Person> PERSON = new DataClassRowMapper<>(Person.class);
  private static final RowMapper<Title> TITLE = new DataClassRowMapper<>(Title.class);
  private static final RowMapper<Part> PART =
      (row, number) ->
          new Part(
              row.getString("role"),
              new Person(row.getInt("person_id"), row.getString("person_name")));
  private static final RowMapper<Review> REVIEW =
      (row, number) ->
          new Review(
              row.getInt("id"),
              row.getInt("stars"),
              row.getString("body"),
              row.getObject("written", LocalDateTime.class),
              new Person(row.getInt("author_id"), row.getString("author_name")));
  private static final RowMapper<Opinion> OPINION =
      (row, number) ->
          new Opinion(
              row.getInt("id"),
              row.getInt("stars"),
              row.getObject("written", LocalDateTime.class),
              new FilmTitle(row.getInt("film_id"), row.getString("film_title")));

  private static final RowMapper<Person> PERSON_AT = (row, number) -> person(row, 1);
  private static final RowMapper<Title> TITLE_AT =
      (row, number) ->
          new Title(row.getInt(1), row.getString(2), row.getObject(3, LocalDate.class));
  private static final RowMapper<Part> PART_AT =
      (row, number) -> new Part(row.getString(1), person(row, 2));
  private static final RowMapper<Review> REVIEW_AT =
      (row, number) ->
          new Review(
              row.getInt(1),
              row.getInt(2),
              row.getString(3),
              row.getObject(4, LocalDateTime.class),
              person(row, 5));
  private static final RowMapper<Opinion> OPINION_AT =
      (row, number) ->
          new Opinion(
              row.getInt(1),
              row.getInt(2),
              row.getObject(3, LocalDateTime.class),
              new FilmTitle(row.getInt(4), row.getString(5)));

  private static final RowMapper<FilmOnly> FILM = new DataClassRowMapper<>(FilmOnly.class);
  private static final RowMapper<FilmOnly> FILM_AT =
      (row, number) ->
          new FilmOnly(
              row.getInt(1),
              row.getString(2),
              row.getObject(3, LocalDate.class),
              row.getBigDecimal(4));

  private JdbcTemplate jdbc;
  private TransactionTemplate transaction;

  @Override
  protected void open(Connection connection) {
    DataSource one = new SingleConnectionDataSource(connection, true);
    jdbc = new JdbcTemplate(one);
    transaction = new TransactionTemplate(new DataSourceTransactionManager(one));
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("spring-jdbc", version(JdbcTemplate.class));
  }

  @Override
  protected Objects<?> operation(String name) {
    return switch (name) {
      case "film" ->
          new Objects<>(
              Film.class, (row, taker) -> taker.take(tuned ? tunedFilm(row[0]) : film(row[0])));
      case "user" ->
          new Objects<>(
              User.class, (row, taker) -> taker.take(tuned ? tunedUser(row[0]) : user(row[0])));
      case "one" ->
          new Objects<>(
              FilmOnly.class, (row, taker) -> taker.take(tuned ? tunedOne(row[0]) : one(row[0])));
      case "search" -> new Objects<>(Title.class, this::search);
      case "page" -> new Objects<>(Title.class, this::page);
      case "add" -> writing(row -> transaction.executeWithoutResult(status -> add(row)));
      case "change" -> writing(this::change);
      case "read_modify_write" ->
          writing(row -> transaction.executeWithoutResult(status -> readModifyWrite(row)));
      default -> null;
    };
  }

  private FilmOnly one(Object key) {
    return jdbc.queryForObject(Films.FILM, FILM, key);
  }

  private FilmOnly tunedOne(Object key) {
    return jdbc.queryForObject(Films.FILM, FILM_AT, key);
  }

  private void search(Object[] row, Taker<Title> taker) throws Exception {
    titles(taker, Films.SEARCH, Films.pattern(row[0]), row[0]);
  }

  private void page(Object[] row, Taker<Title> taker) throws Exception {
    titles(taker, Films.PAGE_OF_FILMS, row[0] + "%", row[1]);
  }

  private void change(Object[] row) {
    jdbc.update(Films.CHANGE, row[1], row[2], row[0]);
  }

  private Film film(Object key) {
    List<Person> directors = jdbc.query(Films.DIRECTORS, PERSON, key);
    List<Part> cast = jdbc.query(Films.CAST, PART, key);
    List<Review> reviews = jdbc.query(Films.REVIEWS, REVIEW, key);
    return jdbc.queryForObject(
        Films.FILM,
        (row, number) ->
            new Film(
                row.getInt("id"),
                row.getString("title"),
                row.getObject("released", LocalDate.class),
                row.getBigDecimal("budget"),
                directors,
                cast,
                reviews),
        key);
  }

  private Film tunedFilm(Object key) {
    List<Person> directors = jdbc.query(Films.DIRECTORS, PERSON_AT, key);
    List<Part> cast = jdbc.query(Films.CAST, PART_AT, key);
    List<Review> reviews = jdbc.query(Films.REVIEWS, REVIEW_AT, key);
    return jdbc.queryForObject(
        Films.FILM,
        (row, number) ->
            new Film(
                row.getInt(1),
                row.getString(2),
                row.getObject(3, LocalDate.class),
                row.getBigDecimal(4),
                directors,
                cast,
                reviews),
        key);
  }

  private static Person person(ResultSet row, int first) throws SQLException {
    return new Person(row.getInt(first), row.getString(first + 1));
  }

  private User user(Object key) {
    List<Opinion> latest = jdbc.query(Films.OPINIONS, OPINION, key);
    return jdbc.queryForObject(
        Films.TOTALS,
        (row, number) ->
            new User(
                row.getInt("id"),
                row.getString("name"),
                row.getInt("reviews"),
                row.getInt("stars"),
                latest),
        key);
  }

  private User tunedUser(Object key) {
    List<Opinion> latest = jdbc.query(Films.OPINIONS, OPINION_AT, key);
    return jdbc.queryForObject(
        Films.TOTALS,
        (row, number) ->
            new User(row.getInt(1), row.getString(2), row.getInt(3), row.getInt(4), latest),
        key);
  }

  private void titles(Taker<Title> taker, String sql, Object... arguments) throws Exception {
    for (Title title : jdbc.query(sql, tuned ? TITLE_AT : TITLE, arguments)) {
      taker.take(title);
    }
  }

  private void add(Object[] row) {
    KeyHolder keys = new GeneratedKeyHolder();
    PreparedStatementCreator insert =
        connection -> {
          PreparedStatement statement =
              connection.prepareStatement(Films.ADD_FILM, new String[] {"id"});
          for (int at = 0; at < 3; at++) {
            statement.setObject(at + 1, row[at]);
          }
          return statement;
        };
    jdbc.update(insert, keys);
    int film = keys.getKeyAs(Integer.class);
    if (tuned) {
      jdbc.update(Films.ADD_DIRECTORS, Graph.directorValues(film, row[3]));
      jdbc.update(Films.ADD_ACTORS, Graph.actorValues(film, row[3]));
      return;
    }
    List<Object[]> directors = new ArrayList<>();
    for (Graph.DirectorRow one : Graph.directors(row[3])) {
      directors.add(new Object[] {film, one.person(), one.position()});
    }
    jdbc.batchUpdate(Films.ADD_DIRECTOR, directors);
    List<Object[]> cast = new ArrayList<>();
    for (Graph.ActorRow one : Graph.cast(row[3])) {
      cast.add(new Object[] {film, one.person(), one.position(), one.role()});
    }
    jdbc.batchUpdate(Films.ADD_ACTOR, cast);
  }

  private void readModifyWrite(Object[] row) {
    BigDecimal budget = jdbc.queryForObject(Films.LOCKED_BUDGET, BigDecimal.class, row[0]);
    jdbc.update(Films.SET_BUDGET, Films.raised(budget, row[1]), row[0]);
  }
}
