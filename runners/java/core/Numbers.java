package rowpath;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;

/** Numbers in whatever form a driver has them. */
final class Numbers {
  private static final int MOST_DIGITS = 1_000_000; // a short text may spell a number of gigabytes

  private Numbers() {}

  /**
   * The value as a BigDecimal, or as a Double where it is infinite or NaN; null where it is no
   * number.
   */
  static Number of(Object value) {
    if (value instanceof BigDecimal decimal) {
      return decimal;
    }
    if (value instanceof BigInteger whole) {
      return new BigDecimal(whole);
    }
    if (value instanceof Double || value instanceof Float) {
      double number = ((Number) value).doubleValue();
      // A float's shortest text, not that of the double that it widens to.
      return Double.isFinite(number) ? new BigDecimal(value.toString()) : (Number) number;
    }
    if (value instanceof Number whole) {
      return BigDecimal.valueOf(whole.longValue());
    }
    if (value instanceof Boolean truth) {
      return truth ? BigDecimal.ONE : BigDecimal.ZERO;
    }
    return value == null || value instanceof byte[] ? null : text(value.toString().strip());
  }

  private static Number text(String text) {
    switch (text.toLowerCase(Locale.ROOT)) {
      case "nan":
        return Double.NaN;
      case "inf", "infinity", "+infinity":
        return Double.POSITIVE_INFINITY;
      case "-inf", "-infinity":
        return Double.NEGATIVE_INFINITY;
      default:
        try {
          BigDecimal number = new BigDecimal(text);
          return Math.abs((long) number.scale()) > MOST_DIGITS ? null : number;
        } catch (NumberFormatException none) {
          return null;
        }
    }
  }

  /** Plain decimal notation (docs/codec.md). */
  static String plain(Number number) {
    if (number instanceof BigDecimal decimal) {
      return decimal.signum() == 0 ? "0" : decimal.stripTrailingZeros().toPlainString();
    }
    double value = number.doubleValue();
    return Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }

  /** The number that it is to a float; null where it is none. */
  static Double floating(Object value) {
    if (value instanceof Double || value instanceof Float) {
      return ((Number) value).doubleValue();
    }
    Number number = of(value);
    return number == null ? null : (Double) number.doubleValue();
  }
}
