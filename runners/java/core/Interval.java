package rowpath;

/** An interval in its three independent parts. */
public record Interval(int months, int days, long nanoseconds) {}
