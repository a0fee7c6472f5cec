package rowpath;

import java.sql.ResultSet;

/**
 * What the operations of a sample delivered; fields are plain because only the loop's thread
 * touches them.
 */
public final class SampleCounters extends CacheLinePadded {
  /** Rows delivered. */
  public long rows;

  /** Their touch sum. */
  public long touch;

  /** Kind {@code connect}: time to connect and log in. */
  public long connectNs;

  /** Null outside of {@code verify}: where rows are encoded. */
  Encoder encoder;

  /** Whether execute and first row are stamped. */
  boolean stamps;

  /** When the operation under way began. */
  long startNs;

  long executeNs;
  long firstRowNs;

  /** With a pool: until it lent a connection, and until it had it back. */
  long borrowNs;

  long returnNs;

  private long askedNs;
  private long workedNs; // 0: no connection was lent
  private long borrowBefore;
  private long rowsBefore;
  private long touchBefore;
  private long connectBefore;
  private long executeBefore;
  private long firstRowBefore;

  /** To be called by an operation as soon as the driver's execute has returned. */
  public void executed() {
    if (stamps) {
      executeNs += System.nanoTime() - startNs;
    }
  }

  /** To be called by an operation just before it asks a pool for a connection. */
  public void asks() {
    askedNs = System.nanoTime();
  }

  /** To be called by an operation as soon as a pool has lent it a connection. */
  public void borrowed() {
    borrowNs += System.nanoTime() - askedNs;
  }

  /** To be called by an operation just before it returns the connection to the pool. */
  public void worked() {
    workedNs = System.nanoTime();
  }

  /** To be called by the row loop as soon as the first row was taken. */
  public void firstRow() {
    if (stamps) {
      firstRowNs += System.nanoTime() - startNs;
    }
  }

  /** Takes every value of every row that is left in {@code source}. */
  public <S> void take(S source, RowLoop<S> loop) throws Exception {
    if (encoder == null) {
      loop.touch(source, this);
    } else {
      if (source instanceof ResultSet result) {
        encoder.expect(result.getMetaData().getColumnCount());
      }
      loop.digest(source, this, encoder);
    }
  }

  void begin(long startNs) {
    this.startNs = startNs;
    rowsBefore = rows;
    touchBefore = touch;
    connectBefore = connectNs;
    executeBefore = executeNs;
    firstRowBefore = firstRowNs;
    borrowBefore = borrowNs;
    workedNs = 0;
  }

  /** The operation under way has succeeded: a pool has its connection back. */
  void end(long endNs) {
    if (workedNs != 0) {
      returnNs += endNs - workedNs;
    }
  }

  /** Forgets the operation under way: a failed operation is never part of a result. */
  void undo() {
    rows = rowsBefore;
    touch = touchBefore;
    connectNs = connectBefore;
    executeNs = executeBefore;
    firstRowNs = firstRowBefore;
    borrowNs = borrowBefore;
  }
}
