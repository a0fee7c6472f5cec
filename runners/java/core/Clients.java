package rowpath;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.function.Function;

/**
 * The clients of a path: one connection each, or a pool's for each operation, and a thread each
 * where there is more than one; a single client runs on the caller's thread.
 */
final class Clients {
  private final List<Adapter> adapters = new ArrayList<>();
  private final ClientThreads threads;
  private final Pool pool;

  /** What connecting the first one took; all connections of a pool. */
  final long connectNs;

  /** {@code adapters} makes one for each client; {@code pool}: null where each connects. */
  Clients(Callable<Adapter> adapters, Pool pool, Options options) throws Exception {
    this.pool = pool;
    int clients = Math.max((int) options.number("clients"), 1);
    threads = clients > 1 ? new ClientThreads(clients, concurrency(options)) : null;
    long firstNs = 0;
    try {
      for (int client = 0; client < clients; client++) {
        Adapter driver = adapters.call();
        long start = System.nanoTime();
        if (pool != null && client == 0) {
          pool.open(driver, options);
        }
        Adapter adapter = pool == null ? driver : pool.client(driver);
        adapter.open(options);
        firstNs = client == 0 ? System.nanoTime() - start : firstNs;
        this.adapters.add(adapter);
      }
    } catch (Throwable failed) {
      try {
        close();
      } catch (Exception too) {
        failed.addSuppressed(too);
      }
      throw failed;
    }
    connectNs = firstNs;
  }

  private static String concurrency(Options options) {
    return options.get("concurrency", "threads");
  }

  /** The adapter of the client that also does what is not measured. */
  Adapter first() {
    return adapters.get(0);
  }

  /** How many there are. */
  int count() {
    return adapters.size();
  }

  /**
   * Executes a statement on the first connection, or on every one; on how many it did so. A pool
   * lends one: which ones several clients would have is not known.
   */
  int run(String statement, boolean every, boolean ignoreErrors) throws Exception {
    int reached = 0;
    for (Adapter adapter : every && pool == null ? adapters : adapters.subList(0, 1)) {
      try {
        adapter.run(statement);
        reached++;
      } catch (Exception failed) {
        if (!ignoreErrors) {
          throw failed;
        }
      }
    }
    return reached;
  }

  /** The phase, made ready on every connection. */
  PreparedPhase prepare(Phase phase, Object[][] rows) throws Exception {
    if (threads != null && (phase.kind().equals("load") || phase.kind().equals("connect"))) {
      throw new Failure("unsupported", "", "only one client can do the kind " + phase.kind());
    }
    int operations = phase.operations(rows.length);
    List<Sampler> samplers = new ArrayList<>();
    long prepareNs = 0;
    try {
      for (Adapter adapter : adapters) {
        long start = System.nanoTime();
        Operation operation = adapter.prepare(phase, rows);
        prepareNs = samplers.isEmpty() ? System.nanoTime() - start : prepareNs;
        samplers.add(
            threads == null
                ? new Sampler(phase, operation, operations)
                : new Sampler(phase, operation, operations, threads.cpuClock()));
      }
    } catch (Throwable failed) {
      for (Sampler sampler : samplers) {
        sampler.close();
      }
      throw failed;
    }
    PreparedPhase prepared = new PreparedPhase(phase, rows, samplers, prepareNs);
    if (threads != null) {
      prepared.spread(0, operations);
    }
    return prepared;
  }

  /**
   * One sample through all clients; {@code operations} 0 means until the duration has passed,
   * {@code first} below 0 to go on.
   */
  Map<String, Object> sample(
      PreparedPhase prepared, long leadInNs, long durationNs, long operations, long first)
      throws Exception {
    if (threads == null) {
      Sampler only = prepared.samplers().get(0);
      if (first >= 0) {
        only.seek(first);
      }
      Collector collector = new Collector();
      SampleReply.Part part = only.sample(null, leadInNs, durationNs, operations);
      Map<String, Object> reply = SampleReply.of(prepared.phase(), List.of(part));
      collector.report(reply);
      return reply;
    }
    long[] wanted = prepared.share(operations, first);
    List<Future<SampleReply.Part>> futures = new ArrayList<>();
    List<SampleReply.Part> parts = new ArrayList<>();
    StartBarrier barrier = new StartBarrier(adapters.size());
    Collector collector = new Collector();
    long carriers = threads.carriersCpuNs();
    long window = System.nanoTime();
    for (int client = 0; client < adapters.size(); client++) {
      Sampler sampler = prepared.samplers().get(client);
      long mine = wanted[client];
      futures.add(
          threads.submit(
              client,
              () -> {
                try {
                  return sampler.sample(barrier, leadInNs, durationNs, mine);
                } catch (Throwable broken) {
                  barrier.leave();
                  throw broken;
                }
              }));
    }
    barrier.gather();
    long carriersInBlock = threads.carriersCpuNs();
    barrier.release();
    for (Future<SampleReply.Part> future : futures) {
      parts.add(future.get());
    }
    long windowNs = System.nanoTime() - window;
    long carriersAfter = threads.carriersCpuNs();
    Map<String, Object> reply = SampleReply.of(prepared.phase(), parts);
    reply.put("window_ns", windowNs);
    if (carriersAfter > 0) {
      reply.put("window_cpu_ns", carriersAfter - carriers);
      reply.put("cpu_ns", carriersAfter - carriersInBlock);
    }
    collector.report(reply);
    return reply;
  }

  /** Groups of clients, waiting for their begin, each client on one of the connections. */
  ClientGroups groups(Map<String, Object> request, Function<Object, PreparedPhase> phases)
      throws Exception {
    return new ClientGroups(request, adapters.size(), threads, phases);
  }

  /** The connection's, how the clients run, which CPU time is reported, and the pool's. */
  void facts(Adapter.Facts facts) throws Exception {
    if (pool != null) {
      pool.facts(facts); // before a connection is borrowed for the others
    }
    first().facts(facts);
    Map<String, Object> settings = facts.settings();
    settings.put("clients", String.valueOf(adapters.size()));
    if (threads != null) {
      settings.put("concurrency", threads.name());
      settings.put("cpu_of_clients", threads.cpuSource());
    }
  }

  /** Closes every connection; the first error is thrown once all were tried. */
  void close() throws Exception {
    Exception first = null;
    if (threads != null) {
      threads.stop();
    }
    for (Adapter adapter : adapters) {
      try {
        adapter.close();
      } catch (Exception failed) {
        first = first == null ? failed : first;
      }
    }
    if (pool != null) {
      try {
        pool.close();
      } catch (Exception failed) {
        first = first == null ? failed : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
