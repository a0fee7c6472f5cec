package rowpath;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** One thread per client, there before the first sample and waiting between samples. */
final class ClientThreads {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final String CARRIER = "ForkJoinPool-1-worker-"; // as the JVM names them
  private static final int STACK_BYTES = 16 << 20;

  private final boolean virtual;
  private final ThreadFactory factory;
  private final List<ExecutorService> executors = new ArrayList<>();

  /** {@code concurrency}: {@code threads} or {@code virtual-threads}. */
  ClientThreads(int clients, String concurrency) throws Exception {
    virtual = concurrency.equals("virtual-threads");
    if (!virtual && !concurrency.equals("threads")) {
      throw new Failure("unsupported", "", "the Java runner has no concurrency " + concurrency);
    }
    factory = virtual ? virtualThreads() : ClientThreads::platformThread;
    for (int client = 0; client < clients; client++) {
      executors.add(Executors.newSingleThreadExecutor(factory));
      executors.get(client).submit(() -> {}).get();
    }
  }

  <T> Future<T> submit(int client, Callable<T> task) {
    return executors.get(client).submit(task);
  }

  /** The CPU clock that a client reads for itself; a virtual thread has none. */
  LongSupplier cpuClock() {
    return virtual ? () -> 0 : THREADS::getCurrentThreadCpuTime;
  }

  /** A thread of the same kind for a client, not started. */
  Thread unstarted(Runnable body) {
    return factory.newThread(body);
  }

  /** CPU so far of the threads that carry all virtual ones; 0 where the clients have clocks. */
  long carriersCpuNs() {
    long sum = 0;
    if (virtual) {
      for (ThreadInfo info : THREADS.getThreadInfo(THREADS.getAllThreadIds())) {
        if (info != null && info.getThreadName().startsWith(CARRIER)) {
          sum += Math.max(THREADS.getThreadCpuTime(info.getThreadId()), 0);
        }
      }
    }
    return sum;
  }

  boolean virtual() {
    return virtual;
  }

  /** How the clients run, in words. */
  String name() {
    return virtual
        ? "virtual-threads on "
            + System.getProperty("jdk.virtualThreadScheduler.parallelism", "?")
            + " carrier"
        : "threads";
  }

  /** Where the clients' CPU is read, in words. */
  String cpuSource() {
    return virtual ? "carrier threads, all together" : "each client's thread";
  }

  void stop() {
    executors.forEach(ExecutorService::shutdownNow);
  }

  /** A thread for a client, not started. */
  static Thread platformThread(Runnable body) {
    Thread thread = new Thread(null, body, "rowpath-client", STACK_BYTES);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Has the kernel end a thread's sleeps when they are over, not up to 50 µs later; threads that it
   * starts take after it.
   */
  static void wakePromptly(String thread) {
    try {
      Path path = Path.of(thread);
      Path tid = Files.isSymbolicLink(path) ? Files.readSymbolicLink(path) : path;
      Files.writeString(Path.of("/proc", tid.getFileName().toString(), "timerslack_ns"), "1");
    } catch (NoSuchFileException ended) {
      return;
    } catch (IOException | SecurityException cannot) {
      System.err.println("sleeps may last longer: " + cannot);
    }
  }

  /** The same for every thread: the JVM's own ones wake virtual threads. */
  static void wakeAllPromptly() throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
      tasks.map(Path::toString).forEach(ClientThreads::wakePromptly);
    }
  }

  /** By name, because the runner is compiled for a Java that has none. */
  private static ThreadFactory virtualThreads() throws ReflectiveOperationException {
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      return (ThreadFactory)
          Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    } catch (NoSuchMethodException absent) {
      throw new Failure(
          "unsupported", "", "Java " + Runtime.version().feature() + " has no virtual threads");
    }
  }
}
