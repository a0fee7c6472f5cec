package rowpath;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The loop of one client in one phase, with its clock and its position.
 *
 * <p>{@link #step} is called once per operation, so that the compiler takes it by its count of
 * calls: a single long loop would have to be replaced on the stack, on the measured core.
 */
final class Sampler extends CacheLinePadded {
  /** Wanted operations of a client that has no part in a sample. */
  static final long NONE = -1;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int MOST_FAILURES = 100;

  private final Phase phase;
  private final Operation operation;
  private final int operationsBeforeWrap;
  private final LongSupplier cpuClock;
  private final SampleCounters counters = new SampleCounters();
  private long position;
  private int row;

  private long operations;
  private long failed;
  private long minNs;
  private long maxNs;
  private Map<String, Object> failure;

  Sampler(Phase phase, Operation operation, int operationsBeforeWrap) {
    this(phase, operation, operationsBeforeWrap, THREADS::getCurrentThreadCpuTime);
  }

  Sampler(Phase phase, Operation operation, int operationsBeforeWrap, LongSupplier cpuClock) {
    this.phase = phase;
    this.operation = operation;
    this.operationsBeforeWrap = operationsBeforeWrap;
    this.cpuClock = cpuClock;
  }

  /**
   * Lead-in and block. With a barrier all clients' blocks begin when it opens and last as long:
   * waiting for a core after that is a client's own time.
   */
  SampleReply.Part sample(StartBarrier barrier, long leadInNs, long durationNs, long wanted)
      throws InterruptedException {
    counters.encoder = null;
    counters.stamps = phase.stamps() && !phase.kind().equals("load"); // has many executes
    long windowCpu = cpuClock.getAsLong();
    long window = System.nanoTime();
    reset();
    if (leadInNs > 0) {
      block(window, leadInNs, 0);
    }
    long leadInOperations = operations;
    reset();
    long from = position;
    long begun = barrier == null ? 0 : barrier.join();
    long cpu = cpuClock.getAsLong();
    long start = System.nanoTime();
    begun = barrier == null ? start : begun;
    long end = wanted == NONE ? start : block(start, durationNs - (start - begun), wanted);
    long cpuAfter = cpuClock.getAsLong();
    return new SampleReply.Part(
        from,
        operations,
        failed,
        failure,
        leadInOperations,
        counters.rows,
        counters.touch,
        end - begun,
        cpuAfter - cpu,
        maxNs == 0 ? 0 : minNs,
        maxNs,
        counters.executeNs,
        counters.firstRowNs,
        counters.borrowNs,
        counters.returnNs,
        counters.connectNs,
        end - window,
        cpuAfter - windowCpu);
  }

  /** What the client does, ready on its connection. */
  Operation operation() {
    return operation;
  }

  /** Operations {@code [first, first + count)} with a digest; the first failure is thrown. */
  Map<String, Object> verify(long first, long count, Encoder encoder) throws Exception {
    long resume = position;
    seek(first);
    reset();
    counters.stamps = false;
    counters.encoder = encoder;
    try {
      for (long done = 0; done < count; done++) {
        counters.begin(0);
        operation.run(row, counters);
        seek(position + 1);
      }
    } catch (Exception failed) {
      throw encoder.named(failed);
    } finally {
      counters.encoder = null;
      seek(resume);
    }
    Map<String, Object> reply = new LinkedHashMap<>();
    encoder.report(reply);
    reply.put("rows", counters.rows);
    reply.put("touch", SampleReply.hex(counters.touch));
    reply.put("operations", count);
    return reply;
  }

  /** Frees what the phase holds on the connection. */
  void close() throws Exception {
    operation.close();
  }

  /** Goes to a position, not wrapped. */
  void seek(long to) {
    position = to;
    row = (int) (to % operationsBeforeWrap);
  }

  private void reset() {
    operations = 0;
    failed = 0;
    failure = null;
    minNs = Long.MAX_VALUE;
    maxNs = 0;
    counters.rows = 0;
    counters.touch = 0;
    counters.connectNs = 0;
    counters.executeNs = 0;
    counters.firstRowNs = 0;
    counters.borrowNs = 0;
    counters.returnNs = 0;
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
    counters.begin(start);
    boolean done = false;
    try {
      operation.run(row, counters);
      operations++;
      done = true;
    } catch (Throwable thrown) {
      fail(thrown);
    }
    position++;
    if (++row == operationsBeforeWrap) {
      row = 0;
    }
    long end = System.nanoTime();
    if (done) {
      counters.end(end);
    }
    long ns = end - start;
    minNs = Math.min(minNs, ns);
    maxNs = Math.max(maxNs, ns);
    return end;
  }

  private void fail(Throwable thrown) {
    counters.undo();
    failed++;
    if (failure == null) {
      failure = Failure.body(thrown, "sql");
    }
  }
}
