package rowpath;

/** An interval in its three independent parts. */
public record Interval(int months, int days, long nanoseconds) {
  /** Without end: beyond every other. */
  public static final Interval INFINITE =
      new Interval(Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE);

  public static final Interval MINUS_INFINITE =
      new Interval(Integer.MIN_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE);
}
