package rowpath;

import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A date, a time, or both with their distance from UTC, each as written: 0000-00-00 and 25:30:00
 * too. The year 0 is 1 BC.
 *
 * @param infinite 1 and -1: later and earlier than every other; nothing else counts then
 */
record Moment(
    boolean hasDate,
    boolean hasTime,
    long year,
    int month,
    int day,
    long timeNs,
    int offsetSeconds,
    int infinite) {
  private static final long SECOND_NS = 1_000_000_000L;
  private static final int NS_DIGITS = 9;
  private static final int MONTHS = 12;
  private static final Pattern TEXT =
      Pattern.compile(
          "(?:(-?\\d{4,9})-(\\d\\d)-(\\d\\d))?(?:(?<=\\d)[ T](?=[-\\d]))?"
              + "(?:(-?)(\\d{1,6}):(\\d\\d)(?::(\\d\\d)(?:\\.(\\d{1,9}))?)?)?"
              + " ?(Z|[+-]\\d\\d(?::?\\d\\d){0,2})?( BC| \\(BC\\))?");
  // What is infinite where an engine counts days in 32 bits, and microseconds or nanoseconds in 64.
  private static final LocalDate LAST_DAY = LocalDate.ofEpochDay(Integer.MAX_VALUE);
  private static final LocalDate FIRST_DAY = LocalDate.ofEpochDay(-Integer.MAX_VALUE);
  private static final Set<LocalDateTime> LAST =
      Set.of(LocalDateTime.MAX, after(Long.MAX_VALUE, 1_000), after(Long.MAX_VALUE, 1));
  private static final Set<LocalDateTime> FIRST =
      Set.of(LocalDateTime.MIN, after(-Long.MAX_VALUE, 1_000), after(-Long.MAX_VALUE, 1));
  private static final Pattern INFINITY = Pattern.compile("(-?)inf(?:inity)?");

  /** What the value says; null where it is no date and no time. */
  static Moment of(Object value) {
    if (value instanceof LocalDate date) {
      return date(date);
    }
    if (value instanceof LocalDateTime timestamp) {
      return timestamp(timestamp, ZoneOffset.UTC);
    }
    if (value instanceof OffsetDateTime instant) {
      return instant(instant);
    }
    if (value instanceof LocalTime time) {
      return time(time.toNanoOfDay(), 0);
    }
    if (value instanceof OffsetTime time) {
      return time(time.toLocalTime().toNanoOfDay(), time.getOffset().getTotalSeconds());
    }
    if (value instanceof Duration time) {
      return time(time.toNanos(), 0);
    }
    if (value instanceof ZonedDateTime instant) {
      return instant(instant.toOffsetDateTime());
    }
    if (value instanceof Instant instant) {
      return instant(instant.atOffset(ZoneOffset.UTC));
    }
    if (value instanceof Timestamp timestamp) {
      return timestamp(timestamp.toLocalDateTime(), ZoneOffset.UTC);
    }
    if (value instanceof Date date) {
      return date(date.toLocalDate());
    }
    if (value instanceof Time time) {
      return time(time.toLocalTime().toNanoOfDay(), 0);
    }
    return value instanceof Number || value instanceof Boolean || value instanceof byte[]
        ? null
        : text(String.valueOf(value).strip());
  }

  private static LocalDateTime after(long units, int unitNs) {
    long unitsPerSecond = SECOND_NS / unitNs;
    int nanoseconds = (int) Math.floorMod(units, unitsPerSecond) * unitNs;
    long seconds = Math.floorDiv(units, unitsPerSecond);
    return LocalDateTime.ofEpochSecond(seconds, nanoseconds, ZoneOffset.UTC);
  }

  private static Moment date(LocalDate date) {
    int infinite =
        infinite(
            date.equals(LocalDate.MAX) || date.equals(LAST_DAY),
            date.equals(LocalDate.MIN) || date.equals(FIRST_DAY));
    int year = date.getYear();
    return new Moment(
        true, false, year, date.getMonthValue(), date.getDayOfMonth(), 0, 0, infinite);
  }

  private static Moment timestamp(LocalDateTime local, ZoneOffset offset) {
    int infinite = infinite(LAST.contains(local), FIRST.contains(local));
    long timeNs = local.toLocalTime().toNanoOfDay();
    int day = local.getDayOfMonth();
    int seconds = offset.getTotalSeconds();
    return new Moment(
        true, true, local.getYear(), local.getMonthValue(), day, timeNs, seconds, infinite);
  }

  private static Moment instant(OffsetDateTime instant) {
    int infinite = infinite(instant.equals(OffsetDateTime.MAX), instant.equals(OffsetDateTime.MIN));
    return infinite == 0
        ? timestamp(instant.toLocalDateTime(), instant.getOffset())
        : endless(infinite);
  }

  private static Moment time(long timeNs, int offsetSeconds) {
    return new Moment(false, true, 0, 0, 0, timeNs, offsetSeconds, 0);
  }

  private static Moment endless(int sign) {
    return new Moment(true, true, 0, 0, 0, 0, 0, sign);
  }

  private static int infinite(boolean positive, boolean negative) {
    return positive ? 1 : negative ? -1 : 0;
  }

  private static Moment text(String text) {
    Matcher endless = INFINITY.matcher(text.toLowerCase(Locale.ROOT));
    if (endless.matches()) {
      return endless(endless.group(1).isEmpty() ? 1 : -1);
    }
    Matcher found = TEXT.matcher(text);
    if (!found.matches() || found.group(1) == null && found.group(5) == null) {
      return null;
    }
    long year = number(found.group(1));
    long seconds = (number(found.group(5)) * 60 + number(found.group(6))) * 60;
    String digits = found.group(8) == null ? "" : found.group(8);
    long fraction = number((digits + "0".repeat(NS_DIGITS)).substring(0, NS_DIGITS));
    long timeNs = (seconds + number(found.group(7))) * SECOND_NS + fraction;
    return new Moment(
        found.group(1) != null,
        found.group(5) != null,
        found.group(10) == null ? year : 1 - year,
        (int) number(found.group(2)),
        (int) number(found.group(3)),
        "-".equals(found.group(4)) ? -timeNs : timeNs,
        offset(found.group(9)),
        0);
  }

  private static long number(String digits) {
    return digits == null ? 0 : Long.parseLong(digits);
  }

  private static int offset(String text) {
    if (text == null || text.equals("Z")) {
      return 0;
    }
    String digits = text.substring(1).replace(":", "");
    int seconds = 0;
    for (int at = 0, unit = 3600; at < digits.length(); at += 2, unit /= 60) {
      seconds += Integer.parseInt(digits.substring(at, at + 2)) * unit;
    }
    return text.charAt(0) == '-' ? -seconds : seconds;
  }

  /** Whether the date is in the proleptic Gregorian calendar. */
  boolean hasDay() {
    return month >= 1
        && month <= MONTHS
        && day >= 1
        && day <= YearMonth.of((int) Math.floorMod(year, 400L), month).lengthOfMonth();
  }

  /** Days since 1970-01-01. */
  long epochDay() {
    return LocalDate.of((int) year, month, day).toEpochDay();
  }

  /** The second of the minute, without the sign. */
  int second() {
    return (int) (Math.abs(timeNs) / SECOND_NS % 60);
  }
}
