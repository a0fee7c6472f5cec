package rowpath.layers;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import rowpath.films.Films;
import rowpath.films.Films.Film;
import rowpath.films.Films.FilmTitle;
import rowpath.films.Films.Opinion;
import rowpath.films.Films.Part;
import rowpath.films.Films.Person;
import rowpath.films.Films.Review;
import rowpath.films.Films.Title;
import rowpath.films.Films.User;
import rowpath.jdbc.JdbcLayer;

/**
 * Spring's JdbcTemplate: a query and a RowMapper for each list of objects, in autocommit.
 *
 * <p>Shipped: columns by name, records by {@link DataClassRowMapper}. Tuned: columns by position.
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

  private JdbcTemplate jdbc;

  @Override
  protected void open(Connection connection) {
    jdbc = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
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
      case "search" -> new Objects<>(Title.class, this::search);
      default -> null;
    };
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

  private void search(Object[] row, Taker<Title> taker) throws Exception {
    RowMapper<Title> mapper = tuned ? TITLE_AT : TITLE;
    for (Title title : jdbc.query(Films.SEARCH, mapper, Films.pattern(row[0]), row[0])) {
      taker.take(title);
    }
  }
}
