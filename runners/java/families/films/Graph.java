package rowpath.films;

import java.util.ArrayList;
import java.util.List;

/** What {@code add} inserts below a film: a rule gives it from the number of one of the people. */
public final class Graph {
  public static final int DIRECTOR_COUNT = 2;
  public static final int ACTOR_COUNT = 8;

  private Graph() {}

  public record DirectorRow(int person, int position) {}

  public record ActorRow(int person, int position, String role) {}

  /** The directors, in their order. */
  public static List<DirectorRow> directors(Object person) {
    List<DirectorRow> found = new ArrayList<>();
    for (int position = 0; position < DIRECTOR_COUNT; position++) {
      found.add(new DirectorRow((Integer) person + position, position));
    }
    return found;
  }

  /** The cast, in its order; the last one has no role. */
  public static List<ActorRow> cast(Object person) {
    List<ActorRow> found = new ArrayList<>();
    for (int position = 0; position < ACTOR_COUNT; position++) {
      String role = position < ACTOR_COUNT - 1 ? "part " + (position + 1) : null;
      found.add(new ActorRow((Integer) person + DIRECTOR_COUNT + position, position, role));
    }
    return found;
  }

  /** The values of {@link Films#ADD_DIRECTORS}, row by row. */
  public static Object[] directorValues(int film, Object person) {
    return directors(person).stream()
        .flatMap(one -> java.util.stream.Stream.<Object>of(film, one.person(), one.position()))
        .toArray();
  }

  /** The values of {@link Films#ADD_ACTORS}, row by row. */
  public static Object[] actorValues(int film, Object person) {
    List<Object> values = new ArrayList<>();
    for (ActorRow one : cast(person)) {
      values.add(film);
      values.add(one.person());
      values.add(one.position());
      values.add(one.role());
    }
    return values.toArray();
  }
}
