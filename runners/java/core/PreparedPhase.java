package rowpath;

import java.util.List;
import java.util.Map;

/** A phase made ready on every connection, and where its clients go on. */
final class PreparedPhase {
  private final Phase phase;
  private final Object[][] rows;
  private final List<Sampler> samplers;
  private final long prepareNs;
  private long next;

  PreparedPhase(Phase phase, Object[][] rows, List<Sampler> samplers, long prepareNs) {
    this.phase = phase;
    this.rows = rows;
    this.samplers = samplers;
    this.prepareNs = prepareNs;
  }

  Phase phase() {
    return phase;
  }

  /** The phase's parameters. */
  Object[][] rows() {
    return rows;
  }

  /** One per client. */
  List<Sampler> samplers() {
    return samplers;
  }

  Map<String, Object> reply() {
    return Map.of("prepare_ns", prepareNs, "parameters", rows.length);
  }

  /** Puts client c of N at {@code first} + ⌊c·count/N⌋. */
  void spread(long first, long count) {
    for (int client = 0; client < samplers.size(); client++) {
      samplers.get(client).seek(first + bound(client, count));
    }
  }

  /**
   * Puts several clients where a sample begins; how many operations each does, {@link Sampler#NONE}
   * for none and 0 for as many as the time allows.
   */
  long[] share(long operations, long first) {
    long[] shares = new long[samplers.size()];
    if (operations == 0) {
      if (first >= 0) {
        spread(first, phase.operations(rows.length));
      }
      return shares;
    }
    long from = first >= 0 ? first : next;
    spread(from, operations);
    next = from + operations;
    for (int client = 0; client < shares.length; client++) {
      long mine = bound(client + 1, operations) - bound(client, operations);
      shares[client] = mine == 0 ? Sampler.NONE : mine;
    }
    return shares;
  }

  private long bound(int client, long count) {
    return client * count / samplers.size();
  }

  /** Frees what the phase holds on the connections. */
  void close() throws Exception {
    for (Sampler sampler : samplers) {
      sampler.close();
    }
  }
}
