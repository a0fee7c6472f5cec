package rowpath;

import java.util.Arrays;

/** Bytes that are written one behind the other, integers little endian. */
final class Bytes {
  private byte[] bytes = new byte[4096];
  private int length;

  int length() {
    return length;
  }

  /** Forgets everything from there on. */
  void cut(int to) {
    length = to;
  }

  /** The array that holds them, valid until more are written. */
  byte[] array() {
    return bytes;
  }

  byte[] copy(int from) {
    return Arrays.copyOfRange(bytes, from, length);
  }

  void put(int value) {
    room(1);
    bytes[length++] = (byte) value;
  }

  void put32(int value) {
    for (int shift = 0; shift < 32; shift += 8) {
      put(value >>> shift);
    }
  }

  void put64(long value) {
    put32((int) value);
    put32((int) (value >>> 32));
  }

  void put(byte[] value) {
    room(value.length);
    System.arraycopy(value, 0, bytes, length, value.length);
    length += value.length;
  }

  /** A tag, the number of bytes and the bytes. */
  void tagged(int tag, byte[] value) {
    put(tag);
    put32(value.length);
    put(value);
  }

  private void room(int more) {
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
    }
  }
}
