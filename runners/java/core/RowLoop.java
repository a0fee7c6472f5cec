package rowpath;

/**
 * Takes all rows of a source (a {@link java.sql.ResultSet} or an adapter's own cursor) of one
 * shape.
 *
 * <p>Implemented by a class generated for the shape ({@link RowLoops}), so that no value costs a
 * dispatch.
 */
public interface RowLoop<S> {
  /** Takes every value and adds rows and touch to the counters. */
  void touch(S source, SampleCounters counters) throws Exception;

  /** The same with the same getters, and encodes every row. */
  void digest(S source, SampleCounters counters, Encoder encoder) throws Exception;
}
