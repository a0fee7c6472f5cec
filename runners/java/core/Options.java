package rowpath;

import java.util.Map;

/** The options of {@code open}, as strings. */
public record Options(Map<?, ?> values) {
  /** The option, or {@code otherwise} when it is absent, empty or {@code none}. */
  public String get(String name, String otherwise) {
    Object value = values.get(name);
    String text = value == null ? "" : value.toString();
    return text.isEmpty() || text.equals("none") ? otherwise : text;
  }

  /** The option; a {@link Failure} when it is missing. */
  public String need(String name) {
    String value = get(name, null);
    if (value == null) {
      throw new Failure("connect", "", "the option " + name + " is missing");
    }
    return value;
  }

  /** The option as a number; 0 when it is absent. */
  public long number(String name) {
    return (long) Double.parseDouble(get(name, "0"));
  }

  /** A number of a request's fields, {@code otherwise} when it is absent. */
  static long number(Map<?, ?> fields, String name, long otherwise) {
    return fields.get(name) instanceof Number value ? value.longValue() : otherwise;
  }

  /** {@code n} of a value written {@code prefix:n}; 0 for any other value. */
  public int count(String name, String prefix) {
    String value = get(name, "");
    return value.startsWith(prefix + ":")
        ? Integer.parseInt(value.substring(prefix.length() + 1))
        : 0;
  }
}
