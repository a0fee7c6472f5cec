package rowpath;

import static rowpath.Options.number;

import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;

/** Serves requests one after the other, on the thread that runs the loop. */
final class Session implements Runnable {
  private static final int[] PROTOCOL = {3, 0};
  private static final int CODEC = 2;
  private static final Set<String> REQUIREMENTS =
      Set.of("touch", "digest", "load", "clients", "interrupt", "describe", "client-groups");
  private static final Set<String> NOT_WHILE_GROUPS_WORK =
      Set.of("client-groups", "sample", "verify", "prepare", "close");
  private static final String NAME = "rowpath-java 1.0";

  private final String driver;
  private final String adapterClass;
  private final String layerClass;
  private final String poolClass;
  private final BlockingQueue<String> requests;
  private final Map<String, PreparedPhase> phases = new HashMap<>();
  private Clients clients;
  private ClientGroups groups;
  private volatile boolean ended;

  /** {@code layerClass}, {@code poolClass}: null where none stands above the driver. */
  Session(
      String driver,
      String adapterClass,
      String layerClass,
      String poolClass,
      BlockingQueue<String> requests) {
    this.driver = driver;
    this.adapterClass = adapterClass;
    this.layerClass = layerClass;
    this.poolClass = poolClass;
    this.requests = requests;
  }

  @Override
  public void run() {
    try (OutputStream replies = new FileOutputStream("/proc/self/fd/3", true)) {
      while (!ended) {
        Map<String, Object> request;
        try {
          request = Tools.parse(requests.take());
        } catch (UncheckedIOException noise) {
          System.err.println("not a request: " + noise.getMessage());
          continue;
        }
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("id", request.get("id"));
        String type = String.valueOf(request.get("type"));
        try {
          reply.putAll(serve(type, request));
        } catch (Throwable thrown) {
          reply.put("error", Failure.body(thrown, type.equals("open") ? "connect" : "sql"));
        }
        ended = type.equals("bye");
        replies.write((Tools.format(reply) + "\n").getBytes(StandardCharsets.UTF_8));
        replies.flush();
      }
      System.exit(0);
    } catch (IOException | InterruptedException broken) {
      System.err.println("the replies cannot be written: " + broken);
      Runtime.getRuntime().halt(1);
    }
  }

  /** Whether {@code bye} was served: the process is about to end in good order. */
  boolean ended() {
    return ended;
  }

  private Map<String, Object> serve(String type, Map<String, Object> request) throws Exception {
    if (groups != null && NOT_WHILE_GROUPS_WORK.contains(type)) {
      throw new Failure("internal", "", "groups of clients are at work: no " + type + " meanwhile");
    }
    return switch (type) {
      case "hello" -> hello(request);
      case "open" -> open((Map<?, ?>) request.get("options"));
      case "prepare" -> prepare(request);
      case "sample" ->
          opened()
              .sample(
                  prepared(request.get("phase")),
                  number(request, "lead_in_ns", 0),
                  number(request, "duration_ns", 0),
                  number(request, "operations", 0),
                  number(request, "first", -1));
      case "verify" -> verify(request);
      case "client-groups" -> groups(request);
      case "client-groups-end" -> groupsEnd();
      case "run" -> run(request);
      case "load" -> load(request);
      case "interrupt" -> interrupt(request);
      case "describe" ->
          Map.of("columns", opened().first().describe(String.valueOf(request.get("sql"))));
      case "facts" -> facts();
      case "close" -> close();
      case "bye" -> bye();
      default ->
          throw new Failure(
              "unsupported", "", "the Java runner does not know requests of type " + type);
    };
  }

  private Map<String, Object> hello(Map<String, Object> request) throws IOException {
    if (!(request.get("protocol") instanceof List<?> version)
        || !(version.get(0) instanceof Number major)
        || major.intValue() != PROTOCOL[0]) {
      throw new Failure(
          "unsupported", "", "the Java runner speaks protocol 3, not " + request.get("protocol"));
    }
    if (number(request, "codec", CODEC) != CODEC) {
      throw new Failure(
          "unsupported", "", "the Java runner has codec 2, not " + request.get("codec"));
    }
    for (Object name : request.get("requires") instanceof List<?> names ? names : List.of()) {
      if (!REQUIREMENTS.contains(name)) {
        throw new Failure(
            "unsupported", "", "the Java runner does not know the requirement " + name);
      }
    }
    if (!driver.equals(request.get("adapter"))) {
      throw new Failure(
          "unsupported", "", "this runner hosts " + driver + ", not " + request.get("adapter"));
    }
    Map<String, Object> reply = new LinkedHashMap<>();
    reply.put("protocol", PROTOCOL);
    reply.put("codec", CODEC);
    reply.put("language", "java");
    reply.put("runner", NAME);
    reply.put("adapter", driver);
    reply.put("pid", ProcessHandle.current().pid());
    String tid = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
    reply.put("loop_tid", Integer.parseInt(tid));
    reply.put("clock_read_ns", clockReadNs());
    return reply;
  }

  private Map<String, Object> open(Map<?, ?> options) throws Exception {
    if (clients != null) {
      throw new Failure("internal", "", "a connection is open already");
    }
    Options given = new Options(options);
    String asked = given.get("pool", "");
    if (poolClass == null && !asked.isEmpty()) {
      throw new Failure("unsupported", "", "this runner was started without the pool " + asked);
    }
    Pool pool = asked.isEmpty() ? null : made(poolClass, Pool.class);
    clients = new Clients(this::adapter, pool, given);
    Map<String, Object> reply = new LinkedHashMap<>();
    reply.put("connect_ns", clients.connectNs);
    try {
      reply.put("server_pid", clients.first().serverPid());
    } catch (Throwable failed) {
      close();
      throw failed;
    }
    return reply;
  }

  private Adapter adapter() throws ReflectiveOperationException {
    Adapter adapter = made(adapterClass, Adapter.class);
    if (layerClass == null) {
      return adapter;
    }
    Layer layer = made(layerClass, Layer.class);
    layer.over(adapter);
    return layer;
  }

  private static <T> T made(String className, Class<T> type) throws ReflectiveOperationException {
    return Class.forName(className).asSubclass(type).getDeclaredConstructor().newInstance();
  }

  private Map<String, Object> prepare(Map<String, Object> request) throws Exception {
    Phase phase = Phase.of((Map<?, ?>) request.get("phase"));
    Object[][] rows = new Object[0][];
    if (request.get("parameters") instanceof Map<?, ?> slice) {
      rows =
          Decoder.read(
              Path.of((String) slice.get("file")),
              phase.parameterColumns(),
              ((Number) slice.get("first")).longValue(),
              ((Number) slice.get("count")).intValue());
    }
    PreparedPhase old = phases.remove(phase.name());
    if (old != null) {
      old.close();
    }
    PreparedPhase prepared = opened().prepare(phase, rows);
    phases.put(phase.name(), prepared);
    return prepared.reply();
  }

  private Map<String, Object> verify(Map<String, Object> request) throws Exception {
    PreparedPhase prepared = prepared(request.get("phase"));
    Map<String, Object> reply;
    try (OutputStream kept = kept(request.get("keep"))) {
      Encoder encoder =
          new Encoder(prepared.phase().columns(), number(request, "max_rows", 200_000), kept);
      reply =
          prepared
              .samplers()
              .get(0)
              .verify(number(request, "first", 0), number(request, "count", 1), encoder);
    }
    List<Column> columns = prepared.phase().columns();
    List<Getter> getters = opened().first().getters(columns);
    List<String> converted = new ArrayList<>();
    for (int at = 0; at < getters.size(); at++) {
      if (getters.get(at).fromText()) {
        converted.add(columns.get(at).name());
      }
    }
    reply.put("delivered", getters.stream().map(Getter::delivers).toList());
    reply.put("converted", converted);
    return reply;
  }

  private static OutputStream kept(Object file) {
    if (!(file instanceof String name) || name.isEmpty()) {
      return OutputStream.nullOutputStream();
    }
    try {
      return new BufferedOutputStream(new FileOutputStream(name));
    } catch (IOException refused) {
      throw new Failure("internal", "", "rows cannot be kept: " + refused.getMessage());
    }
  }

  private Map<String, Object> groups(Map<String, Object> request) throws Exception {
    groups = opened().groups(request, this::prepared);
    return Map.of("clients", groups.clients());
  }

  private Map<String, Object> groupsEnd() throws InterruptedException {
    if (groups == null) {
      throw new Failure("internal", "", "no groups of clients are at work");
    }
    Map<String, Object> reply = Map.of("client_groups", groups.end());
    groups = null;
    return reply;
  }

  private Map<String, Object> run(Map<String, Object> request) throws Exception {
    boolean every = Boolean.TRUE.equals(request.get("every_client"));
    boolean ignoreErrors = Boolean.TRUE.equals(request.get("ignore_errors"));
    int reached = opened().count();
    List<Long> ns = new ArrayList<>();
    for (Object statement : (List<?>) request.get("statements")) {
      long start = System.nanoTime();
      reached = Math.min(reached, opened().run((String) statement, every, ignoreErrors));
      ns.add(System.nanoTime() - start);
    }
    return Map.of("ns", ns, "clients", every ? reached : 1);
  }

  private Map<String, Object> load(Map<String, Object> request) throws Exception {
    PreparedPhase prepared = prepared(request.get("phase"));
    int first = (int) number(request, "first", 0);
    int count = (int) number(request, "count", 0);
    List<Object[]> rows = Arrays.asList(prepared.rows()).subList(first, first + count);
    long start = System.nanoTime();
    opened().first().load(prepared.phase(), rows);
    return Map.of("rows", count, "ns", System.nanoTime() - start);
  }

  private Map<String, Object> interrupt(Map<String, Object> request) throws Exception {
    return opened()
        .first()
        .interrupt(
            new Interruption(
                String.valueOf(request.get("kind")),
                String.valueOf(request.get("sql")),
                number(request, "after_ms", 1000),
                number(request, "most_ms", 10_000)))
        .reply();
  }

  private Map<String, Object> facts() throws Exception {
    Map<String, Object> reply = new LinkedHashMap<>();
    Map<String, Object> settings = new LinkedHashMap<>();
    Map<String, Object> libraries = new LinkedHashMap<>();
    settings.put("jvm_time_zone", java.util.TimeZone.getDefault().getID());
    opened().facts(new Adapter.Facts(reply, settings, libraries));
    reply.put("libraries", libraries);
    reply.put("settings", settings);
    List<String> options =
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(option -> !option.startsWith("-Drowpath.tools="))
            .toList();
    reply.put(
        "runtime",
        System.getProperty("java.vm.name")
            + " "
            + Runtime.version()
            + " "
            + String.join(" ", options));
    return reply;
  }

  private Map<String, Object> close() throws Exception {
    long start = System.nanoTime();
    Clients closing = opened();
    clients = null;
    try {
      for (PreparedPhase phase : phases.values()) {
        phase.close();
      }
    } finally {
      phases.clear();
      closing.close();
    }
    return Map.of("close_ns", System.nanoTime() - start);
  }

  private Map<String, Object> bye() throws Exception {
    if (clients != null && groups == null) { // else their connections are in use: they go with us
      close();
    }
    return Map.of();
  }

  private Clients opened() {
    if (clients == null) {
      throw new Failure("internal", "", "no connection is open");
    }
    return clients;
  }

  private PreparedPhase prepared(Object phase) {
    PreparedPhase prepared = phases.get(phase);
    if (prepared == null) {
      throw new Failure("internal", "", "the phase " + phase + " is not prepared");
    }
    return prepared;
  }

  /** The cost of one clock read: the least of several rounds, compiled. */
  private static double clockReadNs() {
    double least = Double.MAX_VALUE;
    for (int round = 0; round < 20; round++) {
      least = Math.min(least, clockRound(5_000) / 5_000.0);
    }
    return least;
  }

  private static long clockRound(int reads) {
    long start = System.nanoTime();
    long last = start;
    for (int read = 0; read < reads; read++) {
      last = System.nanoTime();
    }
    return last - start;
  }
}
