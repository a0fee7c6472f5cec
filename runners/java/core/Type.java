package rowpath;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.Locale;
import java.util.UUID;

/**
 * The logical types, each with Java's natural type and the {@link Encoder} method that takes it.
 *
 * <p>An integer's natural type is {@code int} up to 32 bits, else {@code long}; both widen to
 * {@code long}.
 */
public enum Type {
  INTEGER("integer", long.class),
  DECIMAL("decimal", BigDecimal.class),
  FLOAT32("float32", float.class),
  FLOAT64("float64", double.class),
  BOOLEAN("truth", boolean.class),
  CHAR("character", String.class),
  VARCHAR("text", String.class),
  TEXT("text", String.class),
  JSON("text", String.class),
  BINARY("binary", byte[].class),
  DATE("date", LocalDate.class),
  TIME("time", LocalTime.class),
  TIMESTAMP("timestamp", LocalDateTime.class),
  TIMESTAMPTZ("instant", OffsetDateTime.class),
  INTERVAL("interval", Interval.class),
  UUID("uuid", UUID.class),
  ARRAY("array", Object[].class),
  OPAQUE("opaque", Object.class);

  /** The name of the {@link Encoder} method. */
  final String encoder;

  /** What that method, and {@link Touch#of}, take. */
  public final Class<?> natural;

  Type(String encoder, Class<?> natural) {
    this.encoder = encoder;
    this.natural = natural;
  }

  /** The type of that name in messages. */
  public static Type named(String name) {
    for (Type type : values()) {
      if (type.name().toLowerCase(Locale.ROOT).equals(name)) {
        return type;
      }
    }
    throw new Failure("unsupported", "", "the Java runner does not know the logical type " + name);
  }
}
