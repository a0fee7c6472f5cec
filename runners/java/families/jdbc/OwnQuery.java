package rowpath.jdbc;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.Pattern;
import rowpath.Column;
import rowpath.Failure;
import rowpath.Getter;
import rowpath.LayerRows;
import rowpath.LayerRows.Rows;
import rowpath.LayerRows.Select;
import rowpath.Operation;
import rowpath.Phase;
import rowpath.Unusual;

/**
 * A layer with a query, or a table, of the user's own: one class in one file under
 * layers/own_query/.
 */
public abstract class OwnQuery extends JdbcLayer {
  private static final MethodType READ =
      MethodType.methodType(Object.class, ResultSet.class, int.class);
  private static final Pattern PART = Pattern.compile("\"((?:[^\"]|\"\")*)\"");

  /** The rows of a query, as the layer hands them over; {@code sql} is what the driver takes. */
  protected abstract Rows<?> raw(String sql, Phase phase) throws Exception;

  /** The rows of the table {@code phase.table()}, by the types of its columns. */
  protected Rows<?> mapped(Phase phase) throws Exception {
    throw new Failure("unsupported", "", "this layer makes no classes of a table");
  }

  /** The parts of the table's name, the table last. */
  protected static String[] parts(Phase phase) {
    return PART.matcher(phase.table())
        .results()
        .map(part -> part.group(1).replace("\"\"", "\""))
        .toArray(String[]::new);
  }

  @Override
  protected final Objects<?> operation(String name) {
    return null;
  }

  @Override
  protected final Operation query(Phase phase, Object[][] rows) throws Exception {
    if (!phase.kind().equals("query")) {
      throw new Failure(
          "unsupported", "", "a layer with a query that is not ours does no " + phase.kind());
    }
    boolean mapped = options.get("technique", "").equals("mapped");
    Rows<?> found = mapped ? mapped(phase) : raw(driver.prepared(phase), phase);
    return taken(found, phase, rows);
  }

  /** A select whose rows are arrays. */
  protected static Rows<Object[]> arrays(Select<Object[]> select) {
    return new Rows<>(select, (row, at) -> row[at], row -> row.length);
  }

  private static <R> Operation taken(Rows<R> found, Phase phase, Object[][] rows) {
    return new LayerRows<>(found, phase.columns(), rows);
  }

  /** Binds values to a statement, as the driver's own path does. */
  protected final Binding binding(Phase phase) {
    return new Binder(phase.parameterColumns(), driver::setter)::bind;
  }

  /** Binds values to a statement. */
  @FunctionalInterface
  public interface Binding {
    void bind(PreparedStatement statement, Object[] values) throws SQLException;
  }

  /** A mapper of rows by the getters of the driver's own path. */
  protected final RowReader reader(Phase phase) throws ReflectiveOperationException {
    List<Column> columns = phase.columns();
    Read[] getters = new Read[columns.size()];
    for (int at = 0; at < getters.length; at++) {
      Getter getter = driver.getter(columns.get(at));
      Read read = read(getter);
      getters[at] = getter.returns().isPrimitive() ? orNull(read) : read;
    }
    return new RowReader(columns, getters);
  }

  /** A primitive has a value for NULL too. */
  private static Read orNull(Read read) {
    return (rows, column) -> {
      Object value = read.value(rows, column);
      return rows.wasNull() ? null : value;
    };
  }

  private static Read read(Getter getter) throws ReflectiveOperationException {
    if (getter.owner() != null) {
      MethodType type = MethodType.methodType(getter.returns(), ResultSet.class, int.class);
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      MethodHandle found = lookup.findStatic(getter.owner(), getter.method(), type).asType(READ);
      return (rows, column) -> invoked(found, rows, column);
    }
    if (getter.argument() != null) {
      Class<?> type = getter.argument();
      return (rows, column) -> rows.getObject(column, type);
    }
    return switch (getter.method()) {
      case "getInt" -> ResultSet::getInt;
      case "getLong" -> ResultSet::getLong;
      case "getFloat" -> ResultSet::getFloat;
      case "getDouble" -> ResultSet::getDouble;
      case "getBoolean" -> ResultSet::getBoolean;
      case "getBigDecimal" -> ResultSet::getBigDecimal;
      case "getString" -> ResultSet::getString;
      case "getBytes" -> ResultSet::getBytes;
      case "getObject" -> ResultSet::getObject;
      default -> throw new Failure("internal", "", "no reading by " + getter.method());
    };
  }

  private static Object invoked(MethodHandle getter, ResultSet rows, int column)
      throws SQLException {
    try {
      return (Object) getter.invokeExact(rows, column);
    } catch (SQLException | RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  /** How a column is read. */
  @FunctionalInterface
  private interface Read {
    Object value(ResultSet rows, int column) throws SQLException;
  }

  /** Makes an array of a row's values; null for NULL. */
  public static final class RowReader {
    private final List<Column> columns;
    private final Read[] getters;
    private int width; // of the result; 0: none was read yet

    private RowReader(List<Column> columns, Read[] getters) {
      this.columns = columns;
      this.getters = getters;
    }

    /** As many values as the first result had columns, of the row that the result stands on. */
    public Object[] read(ResultSet rows) throws SQLException {
      if (width == 0) {
        width = rows.getMetaData().getColumnCount();
      }
      Object[] values = new Object[width];
      for (int at = 0; at < Math.min(width, getters.length); at++) {
        try {
          values[at] = getters[at].value(rows, at + 1);
        } catch (SQLException | RuntimeException thrown) {
          values[at] = unusual(thrown, rows, at);
        }
      }
      return values;
    }

    private Object unusual(Exception thrown, ResultSet rows, int at) throws SQLException {
      try {
        return Unusual.value(thrown, rows, at + 1, columns.get(at).type());
      } catch (SQLException | RuntimeException refused) {
        throw refused;
      } catch (Exception refused) {
        throw new IllegalStateException(refused);
      }
    }
  }
}
