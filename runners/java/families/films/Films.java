package rowpath.films;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;

/** The workload's objects as records, and the statements of programs that write their SQL. */
public final class Films {
  public static final int PAGE = 20;
  public static final int LATEST = 3;

  public static final String FILM = "SELECT id, title, released, budget FROM films WHERE id = ?";
  public static final String DIRECTORS =
      "SELECT p.id, p.name FROM directors d JOIN people p ON p.id = d.person_id"
          + " WHERE d.film_id = ? ORDER BY d.position";
  public static final String CAST =
      "SELECT a.role, p.id AS person_id, p.name AS person_name FROM actors a"
          + " JOIN people p ON p.id = a.person_id WHERE a.film_id = ? ORDER BY a.position";
  public static final String REVIEWS =
      "SELECT r.id, r.stars, r.body, r.written, u.id AS author_id, u.name AS author_name"
          + " FROM reviews r JOIN users u ON u.id = r.user_id WHERE r.film_id = ?"
          + " ORDER BY r.written DESC, r.id DESC";
  public static final String TOTALS =
      "SELECT u.id, u.name, count(r.id) AS reviews, coalesce(sum(r.stars), 0) AS stars"
          + " FROM users u LEFT JOIN reviews r ON r.user_id = u.id"
          + " WHERE u.id = ? GROUP BY u.id, u.name";
  public static final String OPINIONS =
      "SELECT r.id, r.stars, r.written, f.id AS film_id, f.title AS film_title FROM reviews r"
          + " JOIN films f ON f.id = r.film_id WHERE r.user_id = ?"
          + " ORDER BY r.written DESC, r.id DESC LIMIT "
          + LATEST;
  public static final String SEARCH =
      "SELECT id, title, released FROM films WHERE title LIKE ? AND title >= ? ORDER BY title"
          + " LIMIT "
          + PAGE;

  public static final String FILM_BY_JOIN =
      "SELECT f.id, f.title, f.released, f.budget, d.id, dp.id, dp.name, a.id, a.role, ap.id,"
          + " ap.name, r.id, r.stars, r.body, r.written, u.id, u.name FROM films f"
          + " LEFT JOIN directors d ON d.film_id = f.id LEFT JOIN people dp ON dp.id = d.person_id"
          + " LEFT JOIN actors a ON a.film_id = f.id LEFT JOIN people ap ON ap.id = a.person_id"
          + " LEFT JOIN reviews r ON r.film_id = f.id LEFT JOIN users u ON u.id = r.user_id"
          + " WHERE f.id = ? ORDER BY d.position, a.position, r.written DESC, r.id DESC";
  public static final String USER_BY_JOIN =
      "SELECT u.id, u.name, count(r.id) OVER (), coalesce(sum(r.stars) OVER (), 0),"
          + " r.id, r.stars, r.written, f.id, f.title FROM users u"
          + " LEFT JOIN reviews r ON r.user_id = u.id LEFT JOIN films f ON f.id = r.film_id"
          + " WHERE u.id = ? ORDER BY r.written DESC, r.id DESC LIMIT "
          + LATEST;

  public static final String PAGE_OF_FILMS =
      "SELECT id, title, released FROM films WHERE title LIKE ? ORDER BY title LIMIT "
          + PAGE
          + " OFFSET ?";

  public static final String ADD_FILM =
      "INSERT INTO films_added (title, released, budget) VALUES (?, ?, ?)";
  public static final String ADD_DIRECTOR =
      "INSERT INTO directors_added (film_id, person_id, position) VALUES (?, ?, ?)";
  public static final String ADD_ACTOR =
      "INSERT INTO actors_added (film_id, person_id, position, role) VALUES (?, ?, ?, ?)";
  public static final String ADD_DIRECTORS =
      ADD_DIRECTOR + ", (?, ?, ?)".repeat(Graph.DIRECTOR_COUNT - 1);
  public static final String ADD_ACTORS =
      ADD_ACTOR + ", (?, ?, ?, ?)".repeat(Graph.ACTOR_COUNT - 1);
  public static final String CHANGE = "UPDATE films_changed SET title = ?, budget = ? WHERE id = ?";
  public static final String LOCKED_BUDGET =
      "SELECT budget FROM films_changed WHERE id = ? FOR UPDATE";
  public static final String SET_BUDGET = "UPDATE films_changed SET budget = ? WHERE id = ?";

  private Films() {}

  /** Of one of the people, or a user. */
  public record Person(int id, String name) {}

  public record Part(String role, Person person) {}

  public record Review(int id, int stars, String body, LocalDateTime written, Person author) {}

  public record Film(
      int id,
      String title,
      LocalDate released,
      BigDecimal budget,
      List<Person> directors,
      List<Part> cast,
      List<Review> reviews) {}

  /** A film's own columns. */
  public record FilmOnly(int id, String title, LocalDate released, BigDecimal budget) {}

  public record Title(int id, String title, LocalDate released) {}

  public record FilmTitle(int id, String title) {}

  public record Opinion(int id, int stars, LocalDateTime written, FilmTitle film) {}

  public record User(int id, String name, int reviews, int stars, List<Opinion> latest) {}

  /** What titles like this one begin with, as a pattern. */
  public static String pattern(Object title) {
    String text = (String) title;
    return text.substring(0, text.lastIndexOf(' ')) + " %";
  }

  /** The budget with that amount added; none counts as zero. */
  public static BigDecimal raised(BigDecimal budget, Object amount) {
    BigDecimal more = (BigDecimal) amount;
    return budget == null ? more : budget.add(more);
  }
}
