package rowpath;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One client's slot in the shared counters, and its group's control words.
 *
 * <p>Every store is a release: what another process reads after this one was killed is what was
 * stored up to some instant, in the order of the program.
 */
final class Slot {
  static final long WAITS = 1;
  static final long WORKS = 2;
  static final long DONE = 3;
  static final long GAVE_UP = 4;

  private static final int HISTOGRAM_BYTES = 7296 * 8;
  private static final int SERVICE = 16 * 8;
  private static final int LATENCY = SERVICE + HISTOGRAM_BYTES;
  private static final int LATENESS = LATENCY + HISTOGRAM_BYTES;

  /** Of a slot without counts by parameter row. */
  static final int BYTES = LATENESS + HISTOGRAM_BYTES;

  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle COUNT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer control;
  private final ByteBuffer slot;
  private final int acknowledged;
  private final int failedCounts;

  Slot(ByteBuffer control, ByteBuffer slot, int acknowledged, int rows) {
    this.control = control;
    this.slot = slot;
    this.acknowledged = acknowledged;
    this.failedCounts = acknowledged + 4 * rows;
  }

  /** When the group begins; 0: not known yet. */
  long begins() {
    return (long) WORD.getAcquire(control, 0);
  }

  /** Whether no operation begins at this instant any longer. */
  boolean ended(long now) {
    long end = (long) WORD.getAcquire(control, 8);
    return end != 0 && now >= end;
  }

  void state(long state) {
    put(0, state);
  }

  /** The parameter row of the operation that comes next. */
  void next(int row) {
    put(3, row);
  }

  void due(long dueNs) {
    put(5, dueNs);
  }

  void arrivals(long arrivals) {
    put(10, arrivals);
  }

  /** An operation of the row given to {@link #next} is about to begin. */
  void begin(long begunNs) {
    put(4, begunNs);
  }

  /** The operation under way succeeded. */
  void acknowledge(int row) {
    if (acknowledged > 0) {
      count(acknowledged + 4 * row);
    }
  }

  /** The operation under way failed: it may or may not have been done. */
  void doubt(int row) {
    if (acknowledged > 0) {
      count(failedCounts + 4 * row);
    }
  }

  void service(long ns, long sumNs) {
    record(SERVICE, ns);
    put(6, sumNs);
  }

  void latency(long ns, long sumNs) {
    record(LATENCY, ns);
    put(7, sumNs);
  }

  /** Sums over successful operations: until a pool lent a connection, and until it had it back. */
  void pooled(long borrowNs, long returnNs) {
    put(12, borrowNs);
    put(13, returnNs);
  }

  void lateness(long ns) {
    record(LATENESS, ns);
  }

  /** The last thing written of a successful operation but {@link #rest}. */
  void succeeded(long operations, long rows) {
    put(9, rows);
    put(1, operations);
  }

  /** The last thing written of a failed operation but {@link #rest}. */
  void failed(long failed, long sumNs) {
    put(8, sumNs);
    put(2, failed);
  }

  /** No operation is under way. */
  void rest(int nextRow, long endedNs) {
    put(11, endedNs);
    put(3, nextRow);
    put(4, 0);
  }

  private void put(int word, long value) {
    WORD.setRelease(slot, word * 8, value);
  }

  private void count(int at) {
    COUNT.setRelease(slot, at, (int) COUNT.get(slot, at) + 1);
  }

  private void record(int histogram, long ns) {
    int bucket = Math.max(56 - Long.numberOfLeadingZeros(ns), 0);
    int at = histogram + 8 * (bucket * 128 + (int) (ns >>> bucket));
    WORD.setRelease(slot, at, (long) WORD.get(slot, at) + 1);
  }
}
