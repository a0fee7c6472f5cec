package rowpath;

import static rowpath.Options.number;

import java.util.Map;

/**
 * The arrivals of a group with shared dispatch: whichever of its clients is free takes the next.
 */
final class Arrivals {
  private final Pacing pacing;
  private final long most;
  private final long[] callers; // when each stood in the queue again, a ring; null: open loop
  private long taken;
  private long joined;
  private long lastDueNs;

  /** Of the group with these fields of the request {@code client-groups}. */
  private Arrivals(Map<?, ?> fields) {
    long clients = number(fields, "clients", 0);
    long population = number(fields, "population", 0);
    pacing = Pacing.ofGroup(fields);
    most = number(fields, "operations", 0) * clients;
    if (!pacing.open() && (population < clients || population > Integer.MAX_VALUE)) {
      throw new Failure("internal", "", population + " callers for " + clients + " clients");
    }
    callers = pacing.open() ? null : new long[(int) population];
  }

  /** Those of a group; null where each of its clients has a schedule of its own. */
  static Arrivals of(Map<?, ?> fields) {
    Object dispatch = fields.get("dispatch");
    if (dispatch == null || dispatch.equals("own")) {
      return null;
    }
    if (!dispatch.equals("shared")) {
      throw new Failure("unsupported", "", "the Java runner has no dispatch " + dispatch);
    }
    return new Arrivals(fields);
  }

  /** Goes to the next one; false when there is none any more. */
  synchronized boolean take(Arrival next, long zero) {
    if (most > 0 && taken == most) {
      return false;
    }
    boolean first = callers == null || taken < callers.length;
    long after = callers == null ? pacing.next() : 0;
    next.dueNs = first ? zero + after : callers[(int) (taken % callers.length)];
    next.number = taken++;
    return true;
  }

  /**
   * A caller whose operation has ended stands in the queue again from that instant on, or from when
   * the one before it does: its client may have come here late.
   */
  synchronized void join(long dueNs) {
    if (callers != null) {
      lastDueNs = Math.max(dueNs, lastDueNs);
      callers[(int) (joined++ % callers.length)] = lastDueNs;
    }
  }

  /** One of them, as its client took it. */
  static final class Arrival {
    long number;
    long dueNs;
  }
}
