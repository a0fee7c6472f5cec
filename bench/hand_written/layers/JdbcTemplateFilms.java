import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * Spring's JdbcTemplate, as its documentation begins: a query and a RowMapper for each list. The
 * search is an expert's: columns by position.
 */
public final class JdbcTemplateFilms {
  private static JdbcTemplate jdbc;

  private JdbcTemplateFilms() {}

  private static long film(Integer key) {
    List<Films.Person> directors =
        jdbc.query(
            "SELECT p.id, p.name FROM directors d JOIN people p ON p.id = d.person_id"
                + " WHERE d.film_id = ? ORDER BY d.position",
            new DataClassRowMapper<>(Films.Person.class),
            key);
    List<Films.Part> cast =
        jdbc.query(
            "SELECT a.role, p.id, p.name FROM actors a JOIN people p ON p.id = a.person_id"
                + " WHERE a.film_id = ? ORDER BY a.position",
            (row, number) ->
                new Films.Part(
                    row.getString("role"),
                    new Films.Person(row.getInt("id"), row.getString("name"))),
            key);
    List<Films.Review> reviews =
        jdbc.query(
            "SELECT r.id, r.stars, r.body, r.written, u.id AS author, u.name FROM reviews r"
                + " JOIN users u ON u.id = r.user_id"
                + " WHERE r.film_id = ? ORDER BY r.written DESC, r.id DESC",
            (row, number) ->
                new Films.Review(
                    row.getInt("id"),
                    row.getInt("stars"),
                    row.getString("body"),
                    row.getObject("written", LocalDateTime.class),
                    new Films.Person(row.getInt("author"), row.getString("name"))),
            key);
    return Films.read(
        jdbc.queryForObject(
            "SELECT id, title, released, budget FROM films WHERE id = ?",
            (row, number) ->
                new Films.Film(
                    row.getInt("id"),
                    row.getString("title"),
                    row.getObject("released", LocalDate.class),
                    row.getBigDecimal("budget"),
                    directors,
                    cast,
                    reviews),
            key));
  }

  private static long search(String title) {
    return Films.readTitles(
        jdbc.query(
            "SELECT id, title, released FROM films WHERE title LIKE ? AND title >= ?"
                + " ORDER BY title LIMIT 20",
            (row, number) ->
                new Films.Title(row.getInt(1), row.getString(2), row.getObject(3, LocalDate.class)),
            Films.pattern(title),
            title));
  }

  public static void main(String[] arguments) throws Exception {
    Conversation conversation = new Conversation();
    jdbc = new JdbcTemplate(new SingleConnectionDataSource(conversation.connect(), true));
    conversation.serve(JdbcTemplateFilms::film, JdbcTemplateFilms::search);
  }
}
