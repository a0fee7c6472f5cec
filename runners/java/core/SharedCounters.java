package rowpath;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Counters shared with the controller: memory in which each client counts its operations
 * (PROTOCOL.md, {@code client-groups}).
 */
final class SharedCounters implements AutoCloseable {
  private static final int CONTROL_BYTES = 16;

  private final FileChannel file;

  SharedCounters(String name) throws IOException {
    file = FileChannel.open(Path.of(name), StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /**
   * One client's slot; {@code acknowledged} is the offset within it of {@code rows} counts, or 0.
   */
  Slot slot(long control, long slot, long slotBytes, long acknowledged, int rows)
      throws IOException {
    long needed = acknowledged == 0 ? Slot.BYTES : acknowledged + 8L * rows;
    if (slotBytes < needed) {
      throw new Failure("internal", "", "a slot of " + slotBytes + " bytes, " + needed + " needed");
    }
    return new Slot(map(control, CONTROL_BYTES), map(slot, needed), (int) acknowledged, rows);
  }

  private ByteBuffer map(long from, long bytes) throws IOException {
    // A mapping beyond its end would make the file larger instead of failing.
    if (from < 0 || from + bytes > file.size()) {
      throw new Failure(
          "internal", "", "the shared counters end at " + file.size() + ", not " + (from + bytes));
    }
    if (bytes > Integer.MAX_VALUE) {
      throw new Failure("unsupported", "", "Java maps no slot of " + bytes + " bytes");
    }
    return file.map(FileChannel.MapMode.READ_WRITE, from, bytes);
  }

  /** What is mapped stays mapped. */
  @Override
  public void close() throws IOException {
    file.close();
  }
}
