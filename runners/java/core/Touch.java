package rowpath;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;

/** What one value adds to the touch sum (docs/codec.md), by its natural type; NULL adds 1. */
public final class Touch {
  private static final double EXACT = 1L << 53;

  private Touch() {}

  public static long of(long value) {
    return value;
  }

  public static long of(boolean value) {
    return value ? 1 : 0;
  }

  public static long of(float value) {
    return of((double) value);
  }

  public static long of(double value) {
    return Math.abs(value) < EXACT ? (long) value : 3;
  }

  public static long of(BigDecimal value) {
    return value == null ? 1 : value.longValue();
  }

  public static long of(String value) {
    return value == null ? 1 : value.length();
  }

  public static long of(byte[] value) {
    return value == null ? 1 : value.length;
  }

  public static long of(LocalDate value) {
    if (value == null) {
      return 1;
    }
    return value.equals(LocalDate.MAX) || value.equals(LocalDate.MIN) ? 5 : value.getDayOfMonth();
  }

  public static long of(LocalTime value) {
    return value == null ? 1 : value.getSecond();
  }

  public static long of(LocalDateTime value) {
    if (value == null) {
      return 1;
    }
    return value.equals(LocalDateTime.MAX) || value.equals(LocalDateTime.MIN)
        ? 5
        : value.getSecond();
  }

  public static long of(OffsetDateTime value) {
    if (value == null) {
      return 1;
    }
    return value.equals(OffsetDateTime.MAX) || value.equals(OffsetDateTime.MIN)
        ? 5
        : value.getSecond();
  }

  /** Intervals, UUIDs, arrays and what has a form of the driver's own. */
  public static long of(Object value) {
    return value == null ? 1 : 5;
  }

  /** A primitive value's touch, or NULL's. */
  public static long unless(long touch, boolean wasNull) {
    return wasNull ? 1 : touch;
  }
}
