import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.mapper.Nested;
import org.jdbi.v3.core.mapper.reflect.ConstructorMapper;

/**
 * Jdbi, as its documentation begins: a handle for each operation, records by ConstructorMapper. The
 * search is an expert's: a handle that is kept, columns by position.
 */
public final class JdbiFilms {
  public record Person(int id, String name) {}

  public record Part(String role, @Nested("person") Person person) {}

  public record Review(
      int id, int stars, String body, LocalDateTime written, @Nested("author") Person author) {}

  public record FilmRow(int id, String title, LocalDate released, BigDecimal budget) {}

  private static Jdbi jdbi;
  private static Handle kept;

  private JdbiFilms() {}

  private static long film(Integer key) {
    return jdbi.withHandle(
        handle -> {
          FilmRow film =
              handle
                  .createQuery("SELECT id, title, released, budget FROM films WHERE id = :id")
                  .bind("id", key)
                  .mapTo(FilmRow.class)
                  .one();
          List<Person> directors =
              handle
                  .createQuery(
                      "SELECT p.id, p.name FROM directors d JOIN people p ON p.id = d.person_id"
                          + " WHERE d.film_id = :id ORDER BY d.position")
                  .bind("id", key)
                  .mapTo(Person.class)
                  .list();
          List<Part> cast =
              handle
                  .createQuery(
                      "SELECT a.role, p.id AS person_id, p.name AS person_name FROM actors a"
                          + " JOIN people p ON p.id = a.person_id"
                          + " WHERE a.film_id = :id ORDER BY a.position")
                  .bind("id", key)
                  .mapTo(Part.class)
                  .list();
          List<Review> reviews =
              handle
                  .createQuery(
                      "SELECT r.id, r.stars, r.body, r.written, u.id AS author_id,"
                          + " u.name AS author_name FROM reviews r JOIN users u ON u.id = r.user_id"
                          + " WHERE r.film_id = :id ORDER BY r.written DESC, r.id DESC")
                  .bind("id", key)
                  .mapTo(Review.class)
                  .list();
          return read(film, directors, cast, reviews);
        });
  }

  private static long read(
      FilmRow film, List<Person> directors, List<Part> cast, List<Review> reviews) {
    List<Object> values = new ArrayList<>();
    for (Person person : directors) {
      values.add(new Object[] {person.id(), person.name()});
    }
    for (Part part : cast) {
      values.add(new Object[] {part.role(), part.person().id(), part.person().name()});
    }
    for (Review each : reviews) {
      Person author = each.author();
      values.add(
          new Object[] {
            each.id(), each.stars(), each.body(), each.written(), author.id(), author.name()
          });
    }
    return Films.read(film.id(), film.title(), film.released(), film.budget(), values);
  }

  private static long search(String title) {
    return Films.readTitles(
        kept.createQuery(
                "SELECT id, title, released FROM films WHERE title LIKE ? AND title >= ?"
                    + " ORDER BY title LIMIT 20")
            .bind(0, Films.pattern(title))
            .bind(1, title)
            .map(
                (row, context) ->
                    new Films.Title(
                        row.getInt(1), row.getString(2), row.getObject(3, LocalDate.class)))
            .list());
  }

  public static void main(String[] arguments) throws Exception {
    Conversation conversation = new Conversation();
    jdbi = Jdbi.create(conversation.connect());
    for (Class<?> type : List.of(Person.class, Part.class, Review.class, FilmRow.class)) {
      jdbi.registerRowMapper(ConstructorMapper.factory(type));
    }
    kept = conversation.get("operation").equals("search") ? jdbi.open() : null;
    conversation.serve(JdbiFilms::film, JdbiFilms::search);
  }
}
