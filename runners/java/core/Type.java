package rowpath;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.util.Locale;
import java.util.UUID;

/**
 * The logical types, each with Java's natural type; Object is the driver's own form.
 *
 * <p>An integer's natural type is {@code int} up to 32 bits, {@code long} up to 64, both widen to
 * {@code long}; beyond, see {@link Column#natural}.
 */
public enum Type {
  INTEGER(long.class),
  DECIMAL(BigDecimal.class),
  FLOAT32(float.class),
  FLOAT64(double.class),
  BOOLEAN(boolean.class),
  CHAR(String.class),
  VARCHAR(String.class),
  TEXT(String.class),
  JSON(String.class),
  BINARY(byte[].class),
  BITS(Object.class),
  DATE(LocalDate.class),
  TIME(LocalTime.class),
  TIMETZ(OffsetTime.class),
  TIMESTAMP(LocalDateTime.class),
  TIMESTAMPTZ(OffsetDateTime.class),
  INTERVAL(Object.class),
  UUID(UUID.class),
  ARRAY(Object.class),
  STRUCT(Object.class),
  MAP(Object.class),
  ROWS(Object.class),
  ANY(Object.class),
  OPAQUE(Object.class);

  /** What {@link Encoder} and {@link Touch#of} take. */
  public final Class<?> natural;

  Type(Class<?> natural) {
    this.natural = natural;
  }

  /** The type of that name in messages. */
  public static Type named(String name) {
    for (Type type : values()) {
      if (type.word().equals(name)) {
        return type;
      }
    }
    throw new Failure("unsupported", "", "the Java runner does not know the logical type " + name);
  }

  /** Its name in messages. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  boolean isText() {
    return this == CHAR || this == VARCHAR || this == TEXT || this == JSON;
  }

  /** Whether its values have a time of day, or nanoseconds. */
  boolean hasTime() {
    return this == TIME || this == TIMETZ || this == TIMESTAMP || this == TIMESTAMPTZ;
  }
}
