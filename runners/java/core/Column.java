package rowpath;

import static rowpath.Options.number;

import java.util.List;
import java.util.Map;

/** One column by its declared logical type; {@code bits} is an integer's width (16, 32, 64). */
public record Column(
    String name, Type type, int length, int precision, int scale, int bits, boolean nullable) {

  /**
   * The columns of a message's list; {@link Failure} of kind {@code unsupported} for a type unknown
   * here.
   */
  static List<Column> list(Object columns) {
    return columns == null
        ? List.of()
        : ((List<?>) columns).stream().map(column -> of((Map<?, ?>) column)).toList();
  }

  private static Column of(Map<?, ?> fields) {
    return new Column(
        (String) fields.get("name"),
        Type.named((String) fields.get("type")),
        (int) number(fields, "length", 0),
        (int) number(fields, "precision", 0),
        (int) number(fields, "scale", 0),
        (int) number(fields, "bits", 32),
        Boolean.TRUE.equals(fields.get("nullable")));
  }
}
