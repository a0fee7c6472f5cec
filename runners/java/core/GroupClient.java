package rowpath;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * One client of a group: the body of its thread, from waiting for the begin to the last operation.
 *
 * <p>{@link #turn} is called once per operation, for the reason that {@link Sampler#step} is.
 */
final class GroupClient extends CacheLinePadded implements Runnable {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int MOST_FAILURES_IN_A_ROW = 100;
  private static final long AFTER_FAILURE_NS = 10_000_000;
  private static final long LOOK_NS = 10_000_000;
  private static final long LOOK_FOR_BEGIN_NS = 1_000_000;

  private final Operation operation;
  private final Slot slot;
  private final Pacing pacing;
  private final long wanted;
  private final CountDownLatch coming;
  private final SampleCounters counters = new SampleCounters();
  private int row;
  private long dueNs;
  private int failuresInARow;
  private boolean over;
  private long serviceNs;
  private long latencyNs;
  private long failedNs;

  // What it did; to be read by others once its thread has ended.
  final Map<String, Map<String, Object>> failures = new LinkedHashMap<>();
  final int first;
  final int rowsOfItsOwn;
  long operations;
  long failed;
  long begunNs; // 0: never
  long endedNs;
  long cpuNs;

  /** {@code wanted} 0: until the end; {@code coming} is counted down once it waits. */
  GroupClient(
      Operation operation,
      Slot slot,
      Pacing pacing,
      int first,
      int rowsOfItsOwn,
      long wanted,
      CountDownLatch coming) {
    this.operation = operation;
    this.slot = slot;
    this.pacing = pacing;
    this.first = first;
    this.rowsOfItsOwn = rowsOfItsOwn;
    this.wanted = wanted;
    this.coming = coming;
    this.row = first;
  }

  /** Rows delivered. */
  long rows() {
    return counters.rows;
  }

  /** Their touch sum. */
  long touch() {
    return counters.touch;
  }

  @Override
  public void run() {
    long cpu = THREADS.getCurrentThreadCpuTime();
    wakePromptly();
    slot.next(row);
    slot.state(Slot.WAITS);
    coming.countDown();
    try {
      work();
    } catch (Throwable broken) { // ours, not the driver's
      fail(broken);
      slot.failed(failed, failedNs);
      failuresInARow = MOST_FAILURES_IN_A_ROW;
    } finally {
      cpuNs = THREADS.getCurrentThreadCpuTime() - cpu;
      slot.state(failuresInARow < MOST_FAILURES_IN_A_ROW ? Slot.DONE : Slot.GAVE_UP);
    }
  }

  private void work() {
    long zero = slot.begins();
    while (zero == 0 && !slot.ended(System.nanoTime())) {
      LockSupport.parkNanos(LOOK_FOR_BEGIN_NS);
      zero = slot.begins();
    }
    long now = zero == 0 ? System.nanoTime() : until(zero, pacing.spinNs);
    if (slot.ended(now)) {
      return;
    }
    begunNs = now;
    if (pacing.open()) {
      dueNs = zero + pacing.next();
      slot.due(dueNs);
    }
    slot.state(Slot.WORKS);
    while (!over) {
      now = turn(now, zero);
    }
  }

  /** One operation with the wait before it; returns when it ended. */
  private long turn(long now, long zero) {
    boolean idle = pacing.open() && now < dueNs;
    long begun = idle ? until(dueNs, pacing.spinNs) : now;
    if (slot.ended(begun) || slot.ended(dueNs)) {
      over = true;
      return begun;
    }
    if (pacing.open()) {
      slot.arrivals(operations + failed + 1);
    }
    slot.begin(begun);
    Throwable thrown = null;
    counters.begin(begun);
    try {
      operation.run(row, counters);
    } catch (Throwable any) {
      thrown = any;
    }
    long ended = System.nanoTime();
    if (thrown == null) {
      succeed(begun, ended, idle);
    } else {
      slot.doubt(row);
      fail(thrown);
      failedNs += ended - begun;
      slot.failed(failed, failedNs);
    }
    endedNs = ended;
    if (++row == first + rowsOfItsOwn) {
      row = first;
    }
    if (pacing.open()) {
      dueNs = zero + pacing.next();
      slot.due(dueNs);
    }
    slot.rest(row, ended);
    over = operations + failed == wanted || failuresInARow == MOST_FAILURES_IN_A_ROW;
    long pause = thrown == null ? pacing.pauseNs : Math.max(AFTER_FAILURE_NS, pacing.pauseNs);
    return over || pause == 0 ? ended : until(ended + pause, 0);
  }

  private void succeed(long begun, long ended, boolean idle) {
    slot.acknowledge(row);
    serviceNs += ended - begun;
    slot.service(ended - begun, serviceNs);
    if (pacing.open()) {
      latencyNs += ended - dueNs;
      slot.latency(ended - dueNs, latencyNs);
      if (idle) {
        slot.lateness(begun - dueNs);
      }
    }
    failuresInARow = 0;
    slot.succeeded(++operations, counters.rows);
  }

  private void fail(Throwable thrown) {
    counters.undo();
    failed++;
    failuresInARow++;
    Map<String, Object> body = Failure.body(thrown, "sql");
    String way = body.get("kind") + " " + body.get("code");
    failures.computeIfAbsent(way, unused -> body).merge("count", 1L, (a, b) -> (Long) a + (Long) b);
  }

  /** Sleeps until so long before an instant, then spins; returns the instant it is, or the end. */
  private long until(long instant, long spinning) {
    long now = System.nanoTime();
    while (now < instant && !slot.ended(now)) {
      long left = instant - now - spinning;
      if (left > 0) {
        LockSupport.parkNanos(Math.min(left, LOOK_NS));
      } else {
        Thread.onSpinWait();
      }
      now = System.nanoTime();
    }
    return now;
  }

  /** Has the kernel end this thread's sleeps when they are over, not up to 50 µs later. */
  private static void wakePromptly() {
    try {
      Path own = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
      Files.writeString(Path.of("/proc", own.toString(), "timerslack_ns"), "1");
    } catch (IOException | SecurityException cannot) {
      System.err.println("sleeps may last longer: " + cannot);
    }
  }
}
