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

  public record Title(int id, String title, LocalDate released) {}

  public record FilmTitle(int id, String title) {}

  public record Opinion(int id, int stars, LocalDateTime written, FilmTitle film) {}

  public record User(int id, String name, int reviews, int stars, List<Opinion> latest) {}

  /** What titles like this one begin with, as a pattern. */
  public static String pattern(Object title) {
    String text = (String) title;
    return text.substring(0, text.lastIndexOf(' ')) + " %";
  }
}
