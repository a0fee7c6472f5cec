package rowpath;

/**
 * A pool of a driver's connections, which all clients of a path share.
 *
 * <p>One class in one file under pools/.
 */
public interface Pool {
  /** Opens all of its connections, as the adapter {@code driver} connects. */
  void open(Adapter driver, Options options) throws Exception;

  /**
   * What a client works through above a driver's adapter of its own that is not open: each
   * operation borrows a connection, works on it and returns it.
   */
  Adapter client(Adapter driver);

  /** Its library's version, and how many connections it has and has lent. */
  void facts(Adapter.Facts facts) throws Exception;

  /** Closes the connections and ends its threads. */
  void close() throws Exception;
}
