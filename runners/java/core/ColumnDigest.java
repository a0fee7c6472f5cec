package rowpath;

import java.util.LinkedHashMap;
import java.util.Map;

/** What {@code verify} replies about one column. */
final class ColumnDigest {
  private static final long[] UNITS_NS = {1_000_000_000L, 1_000_000L, 1_000L};

  private long sum;
  private long order;
  private long finestNs;
  private boolean bounds;
  private long foreign;
  private String reason;

  void add(long hash) {
    sum += hash;
    order = Encoder.ordered(order, hash);
  }

  /** Nanoseconds that a value had before they were cut. */
  void met(long nanoseconds) {
    long unit = 1;
    for (long larger : UNITS_NS) {
      if (nanoseconds % larger == 0) {
        unit = larger;
        break;
      }
    }
    finestNs = finestNs == 0 ? unit : Math.min(finestNs, unit);
  }

  /** A lower bound other than 1. */
  void metBound() {
    bounds = true;
  }

  /** A value without bytes. */
  void metForeign(String why) {
    foreign++;
    reason = reason == null ? why : reason;
  }

  Map<String, Object> reply() {
    Map<String, Object> reply = new LinkedHashMap<>();
    reply.put("digest", SampleReply.hex(sum));
    reply.put("order", SampleReply.hex(order));
    if (finestNs > 0) {
      reply.put("finest_ns", finestNs);
    }
    if (bounds) {
      reply.put("bounds", true);
    }
    if (foreign > 0) {
      reply.put("foreign", foreign);
      reply.put("reason", reason);
    }
    return reply;
  }
}
