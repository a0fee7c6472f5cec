package rowpath;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Period;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Intervals in whatever form a driver has them. */
final class Intervals {
  private static final Pattern PART =
      Pattern.compile(
          "([+-]?[\\d.]+) ?(y|mon|w|d|h|min|s)[a-z]* ?"
              + "|([+-]?)(\\d+):(\\d\\d)(?::(\\d\\d(?:\\.\\d+)?))? ?");
  private static final Pattern ISO =
      Pattern.compile(
          "P(?:([+-]?\\d+)Y)?(?:([+-]?\\d+)M)?(?:([+-]?\\d+)W)?(?:([+-]?\\d+)D)?"
              + "(?:T(?:([+-]?\\d+)H)?(?:([+-]?\\d+)M)?(?:([+-]?[\\d.]+)S)?)?");

  private Intervals() {}

  /** What the value says; null where it is no interval. */
  static Interval of(Object value) {
    if (value instanceof Interval interval) {
      return interval;
    }
    if (value instanceof Duration duration) {
      return new Interval(0, 0, duration.toNanos());
    }
    if (value instanceof Period period) {
      return new Interval(Math.toIntExact(period.toTotalMonths()), period.getDays(), 0);
    }
    String text = value.toString().strip();
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "infinity", "inf" -> Interval.INFINITE;
      case "-infinity", "-inf" -> Interval.MINUS_INFINITE;
      default -> text.startsWith("P") ? iso(text) : words(text.toLowerCase(Locale.ROOT));
    };
  }

  private static Interval iso(String text) {
    Matcher found = ISO.matcher(text);
    return found.matches()
        ? interval(
            12 * whole(found.group(1)) + whole(found.group(2)),
            7 * whole(found.group(3)) + whole(found.group(4)),
            3600 * whole(found.group(5)) + 60 * whole(found.group(6)),
            found.group(7))
        : null;
  }

  /** {@code 1 year 2 mons -3 days -01:02:03.5}, {@code 1 hours 2 mins 3.5 secs}. */
  private static Interval words(String text) {
    long months = 0;
    long days = 0;
    BigDecimal seconds = BigDecimal.ZERO;
    Matcher found = PART.matcher(text);
    int end = 0;
    while (found.find() && found.start() == end) {
      end = found.end();
      if (found.group(1) == null) {
        long minutes = 60 * whole(found.group(4)) + whole(found.group(5));
        BigDecimal time = new BigDecimal(found.group(6) == null ? "0" : found.group(6));
        time = time.add(BigDecimal.valueOf(60 * minutes));
        seconds = seconds.add(found.group(3).equals("-") ? time.negate() : time);
        continue;
      }
      BigDecimal amount = new BigDecimal(found.group(1));
      switch (found.group(2)) {
        case "y" -> months += 12 * amount.longValueExact();
        case "mon" -> months += amount.longValueExact();
        case "w" -> days += 7 * amount.longValueExact();
        case "d" -> days += amount.longValueExact();
        case "h" -> seconds = seconds.add(amount.multiply(BigDecimal.valueOf(3600)));
        case "min" -> seconds = seconds.add(amount.multiply(BigDecimal.valueOf(60)));
        default -> seconds = seconds.add(amount);
      }
    }
    return end > 0 && end == text.length() ? interval(months, days, 0, seconds.toString()) : null;
  }

  private static Interval interval(long months, long days, long seconds, String more) {
    BigDecimal all = BigDecimal.valueOf(seconds).add(new BigDecimal(more == null ? "0" : more));
    return new Interval(
        Math.toIntExact(months),
        Math.toIntExact(days),
        all.movePointRight(9).toBigInteger().longValueExact());
  }

  private static long whole(String digits) {
    return digits == null ? 0 : Long.parseLong(digits);
  }
}
