package rowpath;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;

/** What one value adds to the touch sum (docs/codec.md), by its natural type; NULL adds 1. */
public final class Touch {
  private static final double EXACT = 1L << 53;
  private static final long NO_NUMBER = 3;
  private static final long OTHER = 5;

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
    return Math.abs(value) < EXACT ? (long) value : NO_NUMBER;
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
    return value.equals(LocalDate.MAX) || value.equals(LocalDate.MIN)
        ? OTHER
        : value.getDayOfMonth();
  }

  public static long of(LocalTime value) {
    return value == null ? 1 : value.getSecond();
  }

  public static long of(OffsetTime value) {
    return value == null ? 1 : value.getSecond();
  }

  public static long of(LocalDateTime value) {
    if (value == null) {
      return 1;
    }
    return value.equals(LocalDateTime.MAX) || value.equals(LocalDateTime.MIN)
        ? OTHER
        : value.getSecond();
  }

  public static long of(OffsetDateTime value) {
    if (value == null) {
      return 1;
    }
    return value.equals(OffsetDateTime.MAX) || value.equals(OffsetDateTime.MIN)
        ? OTHER
        : value.getSecond();
  }

  /** Whatever has no touch by its value. */
  public static long of(Object value) {
    return value == null ? 1 : OTHER;
  }

  /** A value in any form, of a column of that type; a natural one's is the same as above. */
  static long of(Object value, Type type) {
    if (value == null) {
      return 1;
    }
    if (value instanceof LocalDate date && type == Type.DATE) {
      return of(date);
    }
    if (value instanceof LocalDateTime timestamp && type == Type.TIMESTAMP) {
      return of(timestamp);
    }
    if (value instanceof OffsetDateTime instant && type == Type.TIMESTAMPTZ) {
      return of(instant);
    }
    return switch (type) {
      case INTEGER, DECIMAL -> ofNumber(Numbers.of(value));
      case FLOAT32, FLOAT64 -> {
        Double number = Numbers.floating(value);
        yield number == null ? OTHER : of((double) number);
      }
      case BOOLEAN -> value instanceof Boolean truth ? of((boolean) truth) : OTHER;
      case CHAR, VARCHAR, TEXT, JSON ->
          value instanceof byte[] bytes ? bytes.length : value.toString().length();
      case BINARY -> value instanceof byte[] bytes ? bytes.length : OTHER;
      case DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ -> ofMoment(Moment.of(value), type);
      default -> OTHER;
    };
  }

  private static long ofNumber(Number number) {
    if (number == null) {
      return OTHER;
    }
    return number instanceof BigDecimal decimal ? decimal.longValue() : NO_NUMBER;
  }

  private static long ofMoment(Moment moment, Type type) {
    if (moment == null || moment.infinite() != 0) {
      return OTHER;
    }
    return type == Type.DATE ? moment.day() : moment.second();
  }

  /** A primitive value's touch, or NULL's. */
  public static long unless(long touch, boolean wasNull) {
    return wasNull ? 1 : touch;
  }
}
