package rowpath;

import java.util.List;

/**
 * A query through a layer: the rows as the layer hands them over, each value in the form it has
 * there.
 */
public final class LayerRows<R> implements Operation {
  private static final Object[] NONE = {};

  private final Select<R> select;
  private final Cell<R> cell;
  private final Width<R> width;
  private final List<Column> columns;
  private final Object[][] parameters;

  /** All rows of one execution, with these values for the parameters. */
  @FunctionalInterface
  public interface Select<R> {
    Iterable<? extends R> rows(Object[] parameters) throws Exception;
  }

  /** The value of a row at a position, counted from 0. */
  @FunctionalInterface
  public interface Cell<R> {
    Object value(R row, int at) throws Exception;
  }

  /** How many values a row has. */
  @FunctionalInterface
  public interface Width<R> {
    int of(R row);
  }

  /** A select and how its rows are read. */
  public record Rows<R>(Select<R> select, Cell<R> cell, Width<R> width) {}

  public LayerRows(Rows<R> rows, List<Column> columns, Object[][] parameters) {
    this.select = rows.select();
    this.cell = rows.cell();
    this.width = rows.width();
    this.columns = columns;
    this.parameters = parameters;
  }

  @Override
  public void run(int row, SampleCounters counters) throws Exception {
    try {
      Iterable<? extends R> rows = select.rows(parameters.length == 0 ? NONE : parameters[row]);
      counters.executed();
      for (R each : rows) {
        take(each, counters);
      }
    } catch (RuntimeException failed) {
      throw Layer.cause(failed);
    }
  }

  private static long touch(Object value, Type type) {
    boolean other = value instanceof String && !type.isText(); // an interval's text has no length
    return other ? Touch.of(value, type) : Layer.touch(value, type);
  }

  private void take(R row, SampleCounters counters) throws Exception {
    Encoder encoder = counters.encoder;
    if (encoder == null) {
      for (int at = 0; at < columns.size(); at++) {
        counters.touch += touch(cell.value(row, at), columns.get(at).type());
      }
    } else {
      encoder.expect(width.of(row));
      encoder.beginRow(row);
      for (int at = 0; at < columns.size(); at++) {
        counters.touch += encoder.value(cell.value(row, at));
      }
      encoder.endRow();
    }
    if (counters.rows++ == 0) {
      counters.firstRow();
    }
  }
}
