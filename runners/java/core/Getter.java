package rowpath;

import java.util.Locale;

/**
 * How one column is taken from a source: a method of the source or a static method of the adapter.
 *
 * <p>{@code owner}: null, or the class whose {@code static method(source, int)} is called. {@code
 * argument}: null, or the class passed to {@code getObject(int, Class)}. {@code returns}: what is
 * delivered, a natural type. {@code fromText}: whether the driver hands over text that is converted
 * here.
 */
public record Getter(
    Class<?> owner, String method, Class<?> argument, Class<?> returns, boolean fromText) {

  /** A typed getter of the source: {@code getInt(int)}. */
  public static Getter typed(String method, Class<?> returns) {
    return new Getter(null, method, null, returns, false);
  }

  /** {@code getObject(int, Class)}. */
  public static Getter object(Class<?> returns) {
    return new Getter(null, "getObject", returns, returns, false);
  }

  /** {@code static method(source, int)} of {@code owner}. */
  public static Getter function(Class<?> owner, String method, Class<?> returns, boolean fromText) {
    return new Getter(owner, method, null, returns, fromText);
  }

  /** {@code getLong} or {@code getInt}, by the width of an integer column; else a BigDecimal. */
  public static Getter integer(Column column) {
    if (column.bits() > 64) {
      return typed("getBigDecimal", java.math.BigDecimal.class);
    }
    return column.bits() > 32 ? typed("getLong", long.class) : typed("getInt", int.class);
  }

  /** The function of {@code owner} that is named like the column's type: {@code date}. */
  public static Getter byType(Class<?> owner, Column column, boolean fromText) {
    String method = column.type().name().toLowerCase(Locale.ROOT);
    return function(owner, method, column.natural(), fromText);
  }

  /** What the driver hands over. */
  String delivers() {
    return fromText ? "String" : returns.getSimpleName();
  }
}
