import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;

/** The objects of an operation as records, for layers that map to any class, and reading them. */
public final class Films {
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

  /** Everything that was read of the last object, so that no compiler leaves it out. */
  static Object last;

  private Films() {}

  /** What titles like this one begin with, as a pattern. */
  static String pattern(String title) {
    return title.substring(0, title.lastIndexOf(' ')) + " %";
  }

  /** Takes every attribute, nested ones too; 5 is the touch of a list. */
  static long read(Film film) {
    List<Object> values = new ArrayList<>();
    for (Person person : film.directors()) {
      values.add(new Object[] {person.id(), person.name()});
    }
    for (Part part : film.cast()) {
      values.add(new Object[] {part.role(), part.person().id(), part.person().name()});
    }
    for (Review review : film.reviews()) {
      values.add(
          new Object[] {
            review.id(),
            review.stars(),
            review.body(),
            review.written(),
            review.author().id(),
            review.author().name()
          });
    }
    return read(film.id(), film.title(), film.released(), film.budget(), values);
  }

  /** Takes a film's own attributes, beside those of its three lists. */
  static long read(
      int id, String title, LocalDate released, BigDecimal budget, List<Object> values) {
    last = values;
    long units = budget == null ? 1 : budget.longValue();
    return id + title.length() + released.getDayOfMonth() + units + 3 * 5;
  }

  /** Takes every attribute of what a search found. */
  static long readTitles(List<Title> titles) {
    long touch = 0;
    for (Title film : titles) {
      touch += film.id() + film.title().length() + film.released().getDayOfMonth();
    }
    return touch;
  }
}
