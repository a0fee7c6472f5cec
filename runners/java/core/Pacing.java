package rowpath;

import static rowpath.Options.number;

import java.util.Map;

/**
 * When the operations of one client are due, and how it waits; of a closed loop none is ever due.
 */
final class Pacing {
  private static final double NS_PER_S = 1e9;
  private static final double BELOW_ONE = 0x1p-53;

  private final boolean open;
  private final boolean poisson;
  private final double distanceNs;
  private final double firstNs;
  private long state;
  private double drawnNs;
  private long drawn;

  /** Closed loop: between two operations. */
  final long pauseNs;

  /** For how long before an operation is due the client does not sleep any more. */
  final long spinNs;

  /**
   * Of client {@code client} of the group with these fields of the request {@code client-groups}.
   */
  static Pacing ofClient(Map<?, ?> fields, int client) {
    return new Pacing(fields, client, number(fields, "clients", 0));
  }

  /** The one schedule of a whole group, whose clients share it. */
  static Pacing ofGroup(Map<?, ?> fields) {
    return new Pacing(fields, 0, 1);
  }

  private Pacing(Map<?, ?> fields, int client, long clients) {
    String pacing = String.valueOf(fields.get("pacing"));
    double ratePerS = fields.get("rate_per_s") instanceof Number rate ? rate.doubleValue() : 0;
    open = !pacing.equals("closed");
    poisson = pacing.equals("poisson");
    if (open && !poisson && !pacing.equals("fixed")) {
      throw new Failure("unsupported", "", "the Java runner has no pacing " + pacing);
    }
    if (open && !(ratePerS > 0)) {
      throw new Failure("internal", "", pacing + " pacing at a rate of " + ratePerS + " a second");
    }
    distanceNs = open ? clients / ratePerS * NS_PER_S : 0;
    firstNs = distanceNs * client / clients;
    state = number(fields, "seed", 0) + client;
    pauseNs = open ? 0 : number(fields, "pause_ns", 0);
    spinNs = number(fields, "spin_ns", 0);
  }

  boolean open() {
    return open;
  }

  /** When the next operation is due, in ns after the begin; each call goes one operation on. */
  long next() {
    if (!poisson) {
      return (long) (firstNs + drawn++ * distanceNs);
    }
    drawnNs -= Math.log(1 - (draw() >>> 11) * BELOW_ONE) * distanceNs;
    return (long) drawnNs;
  }

  /** SplitMix64 (Steele, Lea, Flood 2014). */
  private long draw() {
    state += 0x9E3779B97F4A7C15L;
    long mixed = (state ^ state >>> 30) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
    return mixed ^ mixed >>> 31;
  }
}
