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
          "([+-]?\\d+) ?(y|mon|d)[a-z]* ?|([+-]?)(\\d+):(\\d\\d)(?::(\\d\\d)(\\.\\d+)?)? ?");
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

  /** {@code 1 year 2 mons -3 days -01:02:03.5}. */
  private static Interval words(String text) {
    long months = 0;
    long days = 0;
    Interval time = new Interval(0, 0, 0);
    Matcher found = PART.matcher(text);
    int end = 0;
    while (found.find() && found.start() == end) {
      end = found.end();
      if (found.group(1) == null) {
        long seconds = 3600 * whole(found.group(4)) + 60 * whole(found.group(5));
        seconds += whole(found.group(6));
        time = interval(0, 0, seconds, found.group(7) == null ? null : "0" + found.group(7));
        time = found.group(3).equals("-") ? new Interval(0, 0, -time.nanoseconds()) : time;
      } else if (found.group(2).equals("d")) {
        days += whole(found.group(1));
      } else {
        months += (found.group(2).equals("y") ? 12 : 1) * whole(found.group(1));
      }
    }
    return end > 0 && end == text.length()
        ? new Interval(Math.toIntExact(months), Math.toIntExact(days), time.nanoseconds())
        : null;
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
