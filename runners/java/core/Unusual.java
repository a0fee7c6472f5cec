package rowpath;

import java.sql.ResultSet;

/**
 * Values that a column's getter does not hand over: NaN as a BigDecimal, 25:30:00 as a LocalTime.
 *
 * <p>Such a value, and only that one, is taken by another getter of the same driver, from an
 * exception's handler: the usual value's way stays as short as it is.
 */
public final class Unusual {
  private static final String TEXT = "getString";
  private static final String BYTES = "getBytes";
  private static final String OBJECT = "getObject";

  private Unusual() {}

  /** What the value adds to the touch sum; called by row loops when a getter has thrown. */
  public static long touch(Exception thrown, Object source, int column, String type)
      throws Exception {
    Type declared = Type.valueOf(type);
    return Touch.of(value(thrown, source, column, declared), declared);
  }

  /** The value as another getter hands it over; what was thrown, where none does. */
  public static Object value(Exception thrown, Object source, int column, Type type)
      throws Exception {
    // A text that cannot be decoded still has its bytes.
    String[] getters =
        type.isText()
            ? new String[] {TEXT, BYTES, OBJECT}
            : type == Type.BINARY
                ? new String[] {OBJECT, TEXT}
                : new String[] {TEXT, OBJECT, BYTES};
    for (String getter : getters) {
      try {
        return taken(source, column, getter);
      } catch (Exception | AbstractMethodError refused) {
        // The next one may; what counts in the end is what the usual getter said.
      }
    }
    throw thrown;
  }

  private static Object taken(Object source, int column, String getter) throws Exception {
    if (!(source instanceof ResultSet rows)) {
      return ((Row) source).getObject(column);
    }
    return switch (getter) {
      case TEXT -> rows.getString(column);
      case BYTES -> rows.getBytes(column);
      default -> rows.getObject(column);
    };
  }
}
