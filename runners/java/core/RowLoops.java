package rowpath;

import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Makes row loops: one hidden class per row shape. */
public final class RowLoops {
  private static Made last = new Made(null, null, null, null);

  private RowLoops() {}

  /**
   * The row loop over {@code source} for these columns, each taken by the getter of the same
   * position.
   *
   * <p>The source has {@code boolean next()} and {@code boolean wasNull()}. All clients of a phase
   * share one loop, which holds no state, as they would share a method: it is compiled once.
   */
  @SuppressWarnings("unchecked")
  public static <S> RowLoop<S> of(Class<S> source, List<Column> columns, List<Getter> getters) {
    if (last.source != source || last.columns != columns || !last.getters.equals(getters)) {
      last = new Made(source, columns, getters, make(source, columns, getters));
    }
    return (RowLoop<S>) last.loop;
  }

  private static RowLoop<?> make(Class<?> source, List<Column> columns, List<Getter> getters) {
    List<String[]> shape = new ArrayList<>();
    shape.add(new String[] {name(source), String.valueOf(source.isInterface())});
    for (int at = 0; at < columns.size(); at++) {
      Column column = columns.get(at);
      Class<?> natural = column.natural();
      Getter getter = getters.get(at);
      if (!natural.isAssignableFrom(widened(getter.returns()))) {
        throw new Failure(
            "internal", "", getter.method() + " does not deliver " + column.type().word());
      }
      shape.add(
          new String[] {
            getter.owner() == null ? "" : name(getter.owner()),
            getter.method(),
            getter.argument() == null ? "" : getter.argument().descriptorString(),
            getter.returns().descriptorString(),
            encoder(natural),
            touched(natural).descriptorString(),
            String.valueOf(column.nullable()),
            column.type().name(),
          });
    }
    try {
      MethodHandles.Lookup lookup =
          MethodHandles.lookup().defineHiddenClass(Tools.rowLoop(shape), true);
      return (RowLoop<?>) lookup.lookupClass().getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException broken) {
      throw new IllegalStateException(broken);
    }
  }

  private static Class<?> widened(Class<?> type) {
    return type == int.class ? long.class : type;
  }

  /** The method of {@link Encoder} that takes the type. */
  private static String encoder(Class<?> natural) {
    if (!natural.isPrimitive()) {
      return "value";
    }
    return natural == boolean.class
        ? "truth"
        : natural == long.class ? "integer" : natural == float.class ? "float32" : "float64";
  }

  /** The parameter of the {@link Touch#of} that takes the type. */
  private static Class<?> touched(Class<?> natural) {
    return natural == java.util.UUID.class ? Object.class : natural;
  }

  private static String name(Class<?> type) {
    return Objects.requireNonNull(type).getName().replace('.', '/');
  }

  /** The loop made last; {@code columns} is the phase's own list. */
  private record Made(
      Class<?> source, List<Column> columns, List<Getter> getters, RowLoop<?> loop) {}
}
