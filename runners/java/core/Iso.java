package rowpath;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

/**
 * Dates and times from ISO 8601 text, a blank or a {@code T} between them; years of four digits.
 *
 * <p>By hand because {@code java.time}'s parsers take ten times as long, which would be measured as
 * the driver's.
 */
public final class Iso {
  private Iso() {}

  /** {@code 2000-11-07}. */
  public static LocalDate date(String text) {
    if (text.length() != 10) {
      throw misfit(text);
    }
    return dateAt(text);
  }

  /** {@code 01:02:03}, with up to nine digits of a fraction. */
  public static LocalTime time(String text) {
    return timeAt(text, 0, text.length());
  }

  /** {@code 2000-11-07 01:02:03.456789}. */
  public static LocalDateTime timestamp(String text) {
    return LocalDateTime.of(dateAt(text), separated(text, text.length()));
  }

  /**
   * A timestamp with {@code Z} or an offset of hours and perhaps minutes; without either it is UTC.
   */
  public static OffsetDateTime instant(String text) {
    int end = text.length();
    for (int at = 19; at < text.length(); at++) {
      char mark = text.charAt(at);
      if (mark == '+' || mark == '-' || mark == 'Z') {
        end = at;
        break;
      }
    }
    ZoneOffset offset = end == text.length() ? ZoneOffset.UTC : ZoneOffset.of(text.substring(end));
    LocalDateTime local = LocalDateTime.of(dateAt(text), separated(text, end));
    return local.atOffset(offset).withOffsetSameInstant(ZoneOffset.UTC);
  }

  private static LocalDate dateAt(String text) {
    if (text.length() < 10 || text.charAt(4) != '-' || text.charAt(7) != '-') {
      throw misfit(text);
    }
    return LocalDate.of(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10));
  }

  private static LocalTime separated(String text, int end) {
    if (end < 19 || text.charAt(10) != ' ' && text.charAt(10) != 'T') {
      throw misfit(text);
    }
    return timeAt(text, 11, end);
  }

  private static LocalTime timeAt(String text, int from, int end) {
    if (end - from < 8 || text.charAt(from + 2) != ':' || text.charAt(from + 5) != ':') {
      throw misfit(text);
    }
    int nanoseconds = 0;
    if (end - from > 8) {
      if (text.charAt(from + 8) != '.' || end - from > 18) {
        throw misfit(text);
      }
      nanoseconds = digits(text, from + 9, end);
      for (int digit = end - from; digit < 18; digit++) {
        nanoseconds *= 10;
      }
    }
    return LocalTime.of(
        digits(text, from, from + 2),
        digits(text, from + 3, from + 5),
        digits(text, from + 6, from + 8),
        nanoseconds);
  }

  private static int digits(String text, int from, int end) {
    int value = 0;
    for (int at = from; at < end; at++) {
      int digit = text.charAt(at) - '0';
      if (digit < 0 || digit > 9) {
        throw misfit(text);
      }
      value = 10 * value + digit;
    }
    return value;
  }

  private static DateTimeException misfit(String text) {
    return new DateTimeException("no date or time in ISO 8601: '" + text + "'");
  }
}
