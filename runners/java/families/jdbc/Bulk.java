package rowpath.jdbc;

/** A driver's way to store many rows at once. */
@FunctionalInterface
public interface Bulk {
  /**
   * Stores the rows {@code [from, to)}, everything that this takes included; called inside the
   * clock. A transaction is around it unless it {@link #commits} itself.
   */
  void store(Object[][] rows, int from, int to) throws Exception;

  /** Whether {@link #store} has committed the rows when it returns. */
  default boolean commits() {
    return false;
  }

  /** Frees what it holds on the connection. */
  default void close() throws Exception {}
}
