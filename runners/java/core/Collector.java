package rowpath;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;

/**
 * What the garbage collector did in a window.
 *
 * <p>The count is exact. The time is reported in whole milliseconds, but kept finer by the JVM: the
 * sum over many windows has the error of one reading, not of each. What is finer (performance
 * counters, the flight recorder) is closed to programs or would cost inside the clock.
 */
final class Collector {
  private static final List<GarbageCollectorMXBean> BEANS =
      ManagementFactory.getGarbageCollectorMXBeans();

  private final long collections = collections();
  private final long ms = ms();

  /** Adds what was done since this object was made. */
  void report(Map<String, Object> reply) {
    reply.put("collector_ns", (ms() - ms) * 1_000_000);
    reply.put("collections", collections() - collections);
  }

  private static long collections() {
    return BEANS.stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
  }

  private static long ms() {
    return BEANS.stream().mapToLong(GarbageCollectorMXBean::getCollectionTime).sum();
  }
}
