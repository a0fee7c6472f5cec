package rowpath.delimited;

import java.io.BufferedReader;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The lines of a file whose first bytes lie in {@code [begin, end)}. */
public final class DelimitedSegment {
  private static final int SEARCHED_BYTES = 4096;

  private DelimitedSegment() {}

  /** A reader of these lines; malformed UTF-8 is an error. */
  public static BufferedReader open(Path file, long begin, long end) throws IOException {
    FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
    try {
      long from = lineFrom(channel, begin);
      long to = lineFrom(channel, end);
      channel.position(from);
      InputStream bytes = new Limited(Channels.newInputStream(channel), to - from);
      return new BufferedReader(
          new InputStreamReader(
              bytes,
              StandardCharsets.UTF_8
                  .newDecoder()
                  .onMalformedInput(CodingErrorAction.REPORT)
                  .onUnmappableCharacter(CodingErrorAction.REPORT)));
    } catch (IOException | RuntimeException failed) {
      channel.close();
      throw failed;
    }
  }

  /** Where the first line begins that does not begin before {@code at}. */
  private static long lineFrom(FileChannel channel, long at) throws IOException {
    if (at <= 0) {
      return 0;
    }
    ByteBuffer buffer = ByteBuffer.allocate(SEARCHED_BYTES);
    long position = at - 1;
    while (channel.read(buffer, position) > 0) {
      for (int index = 0; index < buffer.position(); index++) {
        if (buffer.get(index) == '\n') {
          return position + index + 1;
        }
      }
      position += buffer.position();
      buffer.clear();
    }
    return channel.size();
  }

  private static final class Limited extends FilterInputStream {
    private long left;

    Limited(InputStream bytes, long left) {
      super(bytes);
      this.left = left;
    }

    @Override
    public int read() throws IOException {
      int value = left > 0 ? in.read() : -1;
      left -= value < 0 ? 0 : 1;
      return value;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int count = left > 0 ? in.read(into, offset, (int) Math.min(length, left)) : -1;
      left -= Math.max(count, 0);
      return count;
    }
  }
}
