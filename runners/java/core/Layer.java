package rowpath;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/**
 * A query layer, an ORM, or a program by hand above a driver: operations by name that hand over
 * objects, of which every attribute is read.
 *
 * <p>One class in one file under layers/. What is no operation is done by the driver's own adapter.
 */
public abstract class Layer implements Adapter {
  private Adapter driver;

  /** The path's coordinates and the engine's options. */
  protected Options options;

  /** Whether an expert's program is asked for, not that of the layer's documentation. */
  protected boolean tuned;

  /** Hands over the objects of one operation, each while what it rests on is still open. */
  @FunctionalInterface
  public interface Delivery<T> {
    void run(Object[] parameters, Taker<T> taker) throws Exception;
  }

  /** Takes one object, and reads every attribute of it. */
  @FunctionalInterface
  public interface Taker<T> {
    void take(T object) throws Exception;
  }

  /** An operation, and the class of what it hands over. */
  public record Objects<T>(Class<T> type, Delivery<T> delivery) {}

  /** What an operation does that hands over nothing. */
  @FunctionalInterface
  public interface Work {
    void run(Object[] parameters) throws Exception;
  }

  /** An operation that writes. */
  public static Objects<Void> writing(Work work) {
    return new Objects<>(Void.class, (parameters, taker) -> work.run(parameters));
  }

  /** Makes the layer ready on a driver's open connection, as its documentation says or tuned. */
  protected abstract void open(Adapter driver) throws Exception;

  /** The operation of that name (the phase's {@code access}); null where there is none. */
  protected abstract Objects<?> operation(String name) throws Exception;

  /** The versions of what the layer rests on, by name: facts. */
  protected abstract Map<String, String> libraries();

  /** What a class's archive says of its version. */
  protected static String version(Class<?> type) {
    return type.getPackage().getImplementationVersion();
  }

  final void over(Adapter driver) {
    this.driver = driver;
  }

  @Override
  public final void open(Options options) throws Exception {
    this.options = options;
    tuned = !options.get("profile", "").equals("shipped");
    driver.open(options);
    try {
      open(driver);
    } catch (Throwable failed) {
      driver.close();
      throw failed;
    }
  }

  @Override
  public final Operation prepare(Phase phase, Object[][] rows) throws Exception {
    if (!phase.kind().equals("objects")) {
      return query(phase, rows);
    }
    Objects<?> objects = operation(phase.access());
    if (objects == null) {
      String asked = options.get("technique", "");
      String how = asked.isEmpty() ? "" : " with technique=" + asked;
      throw new Failure("unsupported", "", phase.access() + " is not written" + how);
    }
    return new Delivered<>(objects, phase.columns(), rows);
  }

  /** What a phase does that has no objects: the driver's own. */
  protected Operation query(Phase phase, Object[][] rows) throws Exception {
    return driver.prepare(phase, rows);
  }

  /** One operation's objects, read and added to the counters. */
  private static final class Delivered<T> implements Operation, Taker<T> {
    private final Delivery<T> delivery;
    private final ObjectReader reader;
    private final List<Column> columns;
    private final Object[][] rows;
    private SampleCounters counters;
    Object[] last; // kept, so that no compiler leaves out what is read

    Delivered(Objects<T> objects, List<Column> columns, Object[][] rows) {
      this.delivery = objects.delivery();
      this.reader = new ObjectReader(objects.type(), columns);
      this.columns = columns;
      this.rows = rows;
    }

    @Override
    public void run(int row, SampleCounters counters) throws Exception {
      this.counters = counters;
      try {
        delivery.run(rows[row], this);
      } catch (RuntimeException failed) {
        throw cause(failed);
      }
    }

    @Override
    public void take(T object) throws Exception {
      try {
        last = reader.read(object);
      } catch (Exception | Error thrown) {
        throw thrown;
      } catch (Throwable thrown) {
        throw new IllegalStateException(thrown);
      }
      if (counters.encoder == null) {
        for (int at = 0; at < last.length; at++) {
          counters.touch += touch(last[at], columns.get(at).type());
        }
      } else {
        counters.encoder.beginRow(object);
        for (Object value : last) {
          counters.touch += counters.encoder.value(value);
        }
        counters.encoder.endRow();
      }
      if (counters.rows++ == 0) {
        counters.firstRow();
      }
    }
  }

  /** The driver's error that a layer has wrapped, else what was thrown. */
  static Exception cause(RuntimeException failed) {
    for (Throwable cause = failed.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql) {
        return sql;
      }
    }
    return failed;
  }

  static long touch(Object value, Type type) {
    if (value instanceof String text) {
      return Touch.of(text);
    }
    return value instanceof Integer || value instanceof Long
        ? ((Number) value).longValue()
        : Touch.of(value, type);
  }

  @Override
  public void run(String sql) throws Exception {
    driver.run(sql);
  }

  @Override
  public Integer serverPid() throws Exception {
    return driver.serverPid();
  }

  @Override
  public void facts(Facts facts) throws Exception {
    driver.facts(facts);
    facts.libraries().putAll(libraries());
  }

  @Override
  public void close() throws Exception {
    driver.close();
  }
}
