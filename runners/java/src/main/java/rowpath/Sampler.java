package rowpath;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The loop of one phase, with its clock and its position.
 *
 * <p>{@link #step} is called once per operation, so that the compiler takes it by its count of
 * calls: a single long loop would have to be replaced on the stack, on the measured core.
 */
final class Sampler {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int MOST_FAILURES = 100;

  private final Phase phase;
  private final Operation operation;
  private final int parameters;
  private final Tally tally = new Tally();
  private long position;
  private int row;

  private long operations;
  private long failed;
  private long minNs;
  private long maxNs;
  private Map<String, Object> failure;

  Sampler(Phase phase, Operation operation, int parameters) {
    this.phase = phase;
    this.operation = operation;
    this.parameters = Math.max(parameters, 1);
  }

  /** Lead-in and block; the fields of the reply. */
  Map<String, Object> sample(long leadInNs, long durationNs, long wanted, long first) {
    if (first >= 0) {
      seek(first);
    }
    tally.encoder = null;
    tally.stamps = phase.stamps();
    long windowCpu = THREADS.getCurrentThreadCpuTime();
    long window = System.nanoTime();
    reset();
    if (leadInNs > 0) {
      block(window, leadInNs, 0);
    }
    long leadInOperations = operations;
    reset();
    long from = position;
    long cpu = THREADS.getCurrentThreadCpuTime();
    long start = System.nanoTime();
    long end = block(start, durationNs, wanted);
    long cpuAfter = THREADS.getCurrentThreadCpuTime();

    Map<String, Object> reply = new LinkedHashMap<>();
    reply.put("ns", end - start);
    reply.put("operations", operations);
    reply.put("failed", failed);
    reply.put("failure", failure);
    reply.put("rows", tally.rows);
    reply.put("values", tally.rows * phase.columns().size());
    reply.put("touch", hex(tally.touch));
    reply.put("first", from);
    reply.put("lead_in_operations", leadInOperations);
    reply.put("window_ns", end - window);
    reply.put("window_cpu_ns", cpuAfter - windowCpu);
    reply.put("cpu_ns", cpuAfter - cpu);
    reply.put("min_ns", minNs);
    reply.put("max_ns", maxNs);
    reply.put("execute_ns", tally.executeNs);
    reply.put("first_row_ns", tally.firstRowNs);
    reply.put("connect_ns", tally.connectNs);
    return reply;
  }

  /** Operations {@code [first, first + count)} with a digest; the first failure is thrown. */
  Map<String, Object> verify(long first, long count, long mostRows) throws Exception {
    Encoder encoder = new Encoder(phase.columns(), mostRows);
    long resume = position;
    seek(first);
    reset();
    tally.stamps = false;
    tally.encoder = encoder;
    try {
      for (long done = 0; done < count; done++) {
        tally.begin(0);
        operation.run(row, tally);
        seek(position + 1);
      }
    } finally {
      tally.encoder = null;
      seek(resume);
    }
    Map<String, Object> reply = new LinkedHashMap<>();
    reply.put("digest", encoder.digest());
    reply.put("rows", tally.rows);
    reply.put("touch", hex(tally.touch));
    reply.put("operations", count);
    return reply;
  }

  /** Frees what the phase holds on the connection. */
  void close() throws Exception {
    operation.close();
  }

  private void seek(long to) {
    position = to;
    row = (int) (to % parameters);
  }

  private void reset() {
    operations = 0;
    failed = 0;
    failure = null;
    minNs = Long.MAX_VALUE;
    maxNs = 0;
    tally.rows = 0;
    tally.touch = 0;
    tally.connectNs = 0;
    tally.executeNs = 0;
    tally.firstRowNs = 0;
  }

  /**
   * Runs until the duration has passed, or the wanted number when that is not 0; returns the last
   * stamp.
   */
  private long block(long start, long durationNs, long wanted) {
    long now = start;
    do {
      now = step(now);
    } while ((wanted > 0 ? operations + failed < wanted : now - start < durationNs)
        && failed < MOST_FAILURES);
    return now;
  }

  private long step(long start) {
    tally.begin(start);
    try {
      operation.run(row, tally);
      operations++;
    } catch (Throwable thrown) {
      fail(thrown);
    }
    position++;
    if (++row == parameters) {
      row = 0;
    }
    long end = System.nanoTime();
    long ns = end - start;
    minNs = Math.min(minNs, ns);
    maxNs = Math.max(maxNs, ns);
    return end;
  }

  private void fail(Throwable thrown) {
    tally.undo();
    failed++;
    if (failure == null) {
      failure = Failure.body(thrown, "sql");
    }
  }

  private static String hex(long value) {
    return String.format("%016x", value);
  }
}
