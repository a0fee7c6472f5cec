package rowpath;

import static rowpath.Options.number;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Groups of clients at work at once, a thread for each client. */
final class ClientGroups {
  private static final int MOST_FAILURES_TOLD = 16;

  private final List<Group> groups = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final ClientThreads kind; // null: one client
  private final boolean virtual;
  private final long carriersNs;

  /** Has all clients wait for their groups' begin, on threads of the same kind as in samples. */
  ClientGroups(
      Map<String, Object> request,
      int connections,
      ClientThreads kind,
      Function<Object, PreparedPhase> phases)
      throws Exception {
    this.kind = kind;
    virtual = kind != null && kind.virtual();
    carriersNs = virtual ? kind.carriersCpuNs() : 0;
    boolean[] taken = new boolean[connections];
    List<?> asked = (List<?>) request.get("client_groups");
    int clients = asked.stream().mapToInt(one -> (int) number((Map<?, ?>) one, "clients", 0)).sum();
    CountDownLatch coming = new CountDownLatch(clients);
    try (SharedCounters shared = new SharedCounters((String) request.get("shared_counters"))) {
      for (Object one : asked) {
        Map<?, ?> fields = (Map<?, ?>) one;
        take(taken, (int) number(fields, "first_client", 0), (int) number(fields, "clients", 0));
        groups.add(group(fields, phases.apply(fields.get("phase")), shared, coming));
      }
    }
    for (Group group : groups) {
      for (GroupClient client : group.clients) {
        threads.add(kind == null ? ClientThreads.platformThread(client) : kind.unstarted(client));
      }
    }
    threads.forEach(Thread::start);
    coming.await();
    if (virtual) {
      ClientThreads.wakeAllPromptly();
    }
  }

  int clients() {
    return threads.size();
  }

  /** Waits until every client is done; what each group did. */
  List<Map<String, Object>> end() throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
    List<Map<String, Object>> totals = groups.stream().map(Group::total).toList();
    if (virtual) { // they all share the carriers
      long ns = kind.carriersCpuNs() - carriersNs;
      totals.forEach(total -> total.put("cpu_ns", ns));
    }
    return totals;
  }

  private static void take(boolean[] taken, int first, int clients) {
    for (int client = first; client < first + clients; client++) {
      if (client < 0 || client >= taken.length || taken[client]) {
        throw new Failure(
            "internal", "", "client " + client + " is not there, or in two groups at once");
      }
      taken[client] = true;
    }
  }

  private Group group(
      Map<?, ?> fields, PreparedPhase prepared, SharedCounters shared, CountDownLatch coming)
      throws Exception {
    Phase phase = prepared.phase();
    if (!List.of("query", "execute", "null").contains(phase.kind())) {
      throw new Failure("unsupported", "", "no group does operations of kind " + phase.kind());
    }
    int clients = (int) number(fields, "clients", 0);
    List<GroupClient> made = new ArrayList<>();
    int rows = phase.operations(prepared.rows().length);
    Arrivals arrivals = Arrivals.of(fields);
    for (int client = 0; client < clients; client++) {
      Slot slot =
          shared.slot(
              number(fields, "control", 0),
              number(fields, "slots", 0) + client * number(fields, "slot_bytes", 0),
              number(fields, "slot_bytes", 0),
              number(fields, "acknowledged", 0),
              rows);
      int first = rows < clients ? client % rows : bound(client, rows, clients);
      int end = rows < clients ? first + 1 : bound(client + 1, rows, clients);
      made.add(
          new GroupClient(
              prepared.samplers().get((int) number(fields, "first_client", 0) + client).operation(),
              slot,
              Pacing.ofClient(fields, client),
              arrivals,
              virtual,
              arrivals == null ? first : 0,
              arrivals == null ? end - first : rows,
              number(fields, "operations", 0),
              coming));
    }
    return new Group((String) fields.get("name"), phase, made);
  }

  private static int bound(int client, int rows, int clients) {
    return (int) ((long) client * rows / clients);
  }

  /** One group, and the reply's words about it. */
  private record Group(String name, Phase phase, List<GroupClient> clients) {
    Map<String, Object> total() {
      Map<String, Object> total = new LinkedHashMap<>();
      long rows = sum(GroupClient::rows);
      total.put("name", name);
      total.put("operations", sum(client -> client.operations));
      total.put("failed", sum(client -> client.failed));
      total.put("failures", failures());
      total.put("rows", rows);
      total.put("values", rows * phase.columns().size());
      total.put("touch", SampleReply.hex(sum(GroupClient::touch)));
      total.put(
          "begun_ns",
          clients.stream()
              .mapToLong(client -> client.begunNs)
              .filter(ns -> ns > 0)
              .min()
              .orElse(0));
      total.put("ended_ns", clients.stream().mapToLong(client -> client.endedNs).max().orElse(0));
      total.put("cpu_ns", sum(client -> client.cpuNs));
      total.put("clients", clients.stream().map(Group::client).toList());
      return total;
    }

    private long sum(ToLongFunction<GroupClient> of) {
      return clients.stream().mapToLong(of).sum();
    }

    private List<Map<String, Object>> failures() {
      Map<String, Map<String, Object>> all = new LinkedHashMap<>();
      for (GroupClient client : clients) {
        client.failures.forEach(
            (way, failure) -> {
              Map<String, Object> known = all.putIfAbsent(way, failure);
              if (known != null) {
                known.put("count", count(known) + count(failure));
              }
            });
      }
      return all.values().stream()
          .sorted(Comparator.comparingLong(Group::count).reversed())
          .limit(MOST_FAILURES_TOLD)
          .toList();
    }

    private static long count(Map<String, Object> failure) {
      return (Long) failure.get("count");
    }

    private static Map<String, Object> client(GroupClient client) {
      Map<String, Object> shown = new LinkedHashMap<>();
      shown.put("first", client.first);
      shown.put("rows_of_its_own", client.rowsOfItsOwn);
      shown.put("operations", client.operations);
      shown.put("failed", client.failed);
      return shown;
    }
  }
}
