package rowpath;

/** One phase, ready to be run. */
public interface Operation {
  /**
   * Runs one operation and adds what it delivered to the counters.
   *
   * @param row the parameter row; 0 when the phase has no parameters
   */
  void run(int row, SampleCounters counters) throws Exception;

  /** Frees what the phase holds on the connection. */
  default void close() throws Exception {}
}
