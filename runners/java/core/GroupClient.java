package rowpath;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
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
  private static final long SLICE_NS = 10_000_000;

  private final Operation operation;
  private final Slot slot;
  private final Pacing pacing;
  private final Arrivals arrivals; // null: this client's own schedule
  private final Arrivals.Arrival arrival = new Arrivals.Arrival();
  private final boolean dues;
  private final boolean virtual;
  private final long spinNs;
  private final long wanted;
  private final CountDownLatch coming;
  private final SampleCounters counters = new SampleCounters();
  private int row;
  private long dueNs;
  private int failuresInARow;
  private boolean over;
  private long sliceNs;
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

  /**
   * {@code wanted} 0: until the end; {@code virtual}: its thread is a virtual one; {@code coming}
   * is counted down once it waits.
   */
  GroupClient(
      Operation operation,
      Slot slot,
      Pacing pacing,
      Arrivals arrivals,
      boolean virtual,
      int first,
      int rowsOfItsOwn,
      long wanted,
      CountDownLatch coming) {
    this.operation = operation;
    this.slot = slot;
    this.pacing = pacing;
    this.arrivals = arrivals;
    this.virtual = virtual;
    this.spinNs = virtual ? 0 : pacing.spinNs; // else no other could use the carrier meanwhile
    this.dues = pacing.open() || arrivals != null;
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
    long cpu = virtual ? 0 : THREADS.getCurrentThreadCpuTime();
    if (!virtual) {
      ClientThreads.wakePromptly("/proc/thread-self");
    }
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
      cpuNs = virtual ? 0 : THREADS.getCurrentThreadCpuTime() - cpu;
      slot.state(failuresInARow < MOST_FAILURES_IN_A_ROW ? Slot.DONE : Slot.GAVE_UP);
    }
  }

  private void work() {
    long zero = slot.begins();
    while (zero == 0 && !slot.ended(System.nanoTime())) {
      LockSupport.parkNanos(LOOK_FOR_BEGIN_NS);
      zero = slot.begins();
    }
    long now = zero == 0 ? System.nanoTime() : until(zero, spinNs);
    if (slot.ended(now)) {
      return;
    }
    begunNs = now;
    if (arrivals == null && dues) {
      dueNs = zero + pacing.next();
      slot.due(dueNs);
    }
    slot.state(Slot.WORKS);
    while (!over) {
      now = slice(turn(now, zero));
    }
  }

  /** The next arrival; false: there is none, or the end is here. */
  private boolean take(long zero) {
    if (slot.ended(System.nanoTime()) || !arrivals.take(arrival, zero)) {
      return false;
    }
    row = (int) (arrival.number % rowsOfItsOwn);
    dueNs = arrival.dueNs;
    slot.next(row);
    slot.due(dueNs);
    return true;
  }

  /** One operation with the wait before it; returns when it ended. */
  private long turn(long now, long zero) {
    if (arrivals != null && !take(zero)) {
      over = true;
      return now;
    }
    boolean idle = dues && now < dueNs;
    long begun = idle ? until(dueNs, spinNs) : now;
    // An arrival that was taken is done where it was due before the end: so none before it is left
    // out.
    if (slot.ended(dueNs) || arrivals == null && slot.ended(begun)) {
      over = true;
      return begun;
    }
    if (dues) {
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
    goOn(zero, ended);
    slot.rest(row, ended);
    over |= failuresInARow == MOST_FAILURES_IN_A_ROW;
    long own = arrivals == null ? pacing.pauseNs : 0;
    long pause = thrown == null ? own : Math.max(AFTER_FAILURE_NS, own);
    return over || pause == 0 ? ended : until(ended + pause, 0);
  }

  /** To the next operation of its own, or with its caller back into the queue. */
  private void goOn(long zero, long ended) {
    if (arrivals != null) {
      arrivals.join(ended + pacing.pauseNs);
      return;
    }
    over = operations + failed == wanted;
    if (++row == first + rowsOfItsOwn) {
      row = first;
    }
    if (dues) {
      dueNs = zero + pacing.next();
      slot.due(dueNs);
    }
  }

  /** Leaves the carrier to other virtual threads where this one has not waited for long. */
  private long slice(long now) {
    if (!virtual || now - sliceNs < SLICE_NS) {
      return now;
    }
    LockSupport.parkNanos(
        1); // after Thread.yield() the scheduler may take this one again and again
    sliceNs = System.nanoTime();
    return sliceNs;
  }

  private void succeed(long begun, long ended, boolean idle) {
    slot.acknowledge(row);
    serviceNs += ended - begun;
    slot.service(ended - begun, serviceNs);
    counters.end(ended);
    if (counters.borrowNs > 0) {
      slot.pooled(counters.borrowNs, counters.returnNs);
    }
    if (dues) {
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
      sliceNs = now; // a virtual thread only sleeps here
    }
    return now;
  }
}
