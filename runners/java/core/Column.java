package rowpath;

import static rowpath.Options.number;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * One column by its declared logical type (docs/codec.md).
 *
 * @param bits an integer's width: 16, 32, 64, 128
 * @param fields an array's one element, a structure's members, key and value of a map, the columns
 *     of nested rows
 */
public record Column(
    String name,
    Type type,
    int length,
    int precision,
    int scale,
    int bits,
    boolean nullable,
    List<Column> fields,
    Cut cut) {

  /**
   * How values are compared that some paths deliver more exactly than others: nanoseconds are cut
   * to multiples of {@code unitNs}; {@code bounds}: whether lower bounds of arrays count.
   */
  public record Cut(long unitNs, boolean rounded, boolean bounds) {}

  /**
   * The columns of a message's list; {@link Failure} of kind {@code unsupported} for a type unknown
   * here.
   */
  static List<Column> list(Object columns) {
    return list(columns, null);
  }

  private static List<Column> list(Object columns, Cut inherited) {
    return columns == null
        ? List.of()
        : ((List<?>) columns).stream().map(column -> of((Map<?, ?>) column, inherited)).toList();
  }

  private static Column of(Map<?, ?> given, Cut inherited) {
    Type type = Type.named((String) given.get("type"));
    int bits = (int) number(given, "bits", 32);
    Cut cut =
        inherited != null
            ? inherited
            : new Cut(
                number(given, "unit_ns", 1),
                Boolean.TRUE.equals(given.get("rounded")),
                !Boolean.FALSE.equals(given.get("bounds")));
    List<Column> fields = list(given.get("fields"), cut);
    if (type == Type.ARRAY && fields.isEmpty()) {
      fields = List.of(new Column("", Type.INTEGER, 0, 0, 0, bits, true, List.of(), cut));
    }
    return new Column(
        (String) given.get("name"),
        type,
        (int) number(given, "length", 0),
        (int) number(given, "precision", 0),
        (int) number(given, "scale", 0),
        bits,
        Boolean.TRUE.equals(given.get("nullable")),
        fields,
        cut);
  }

  /** Java's natural type of its values. */
  public Class<?> natural() {
    return type == Type.INTEGER && bits > 64 ? BigDecimal.class : type.natural;
  }
}
