package rowpath;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** XXH64 with seed 0, by the published algorithm description. */
public final class XxHash64 {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long P1 = 0x9E3779B185EBCA87L;
  private static final long P2 = 0xC2B2AE3D27D4EB4FL;
  private static final long P3 = 0x165667B19E3779F9L;
  private static final long P4 = 0x85EBCA77C2B2AE63L;
  private static final long P5 = 0x27D4EB2F165667C5L;

  private XxHash64() {}

  /** The hash of the first {@code length} bytes. */
  public static long hash(byte[] bytes, int length) {
    return hash(bytes, 0, length);
  }

  /** The hash of the bytes {@code [from, end)}. */
  static long hash(byte[] bytes, int from, int end) {
    int length = end - from;
    int at = from;
    long hash;
    if (length >= 32) {
      long a = P1 + P2;
      long b = P2;
      long c = 0;
      long d = -P1;
      for (; at <= end - 32; at += 32) {
        a = round(a, (long) LONG.get(bytes, at));
        b = round(b, (long) LONG.get(bytes, at + 8));
        c = round(c, (long) LONG.get(bytes, at + 16));
        d = round(d, (long) LONG.get(bytes, at + 24));
      }
      hash =
          Long.rotateLeft(a, 1)
              + Long.rotateLeft(b, 7)
              + Long.rotateLeft(c, 12)
              + Long.rotateLeft(d, 18);
      hash = merge(merge(merge(merge(hash, a), b), c), d);
    } else {
      hash = P5;
    }
    hash += length;
    for (; at <= end - 8; at += 8) {
      hash = Long.rotateLeft(hash ^ round(0, (long) LONG.get(bytes, at)), 27) * P1 + P4;
    }
    if (at <= end - 4) {
      hash =
          Long.rotateLeft(hash ^ Integer.toUnsignedLong((int) INT.get(bytes, at)) * P1, 23) * P2
              + P3;
      at += 4;
    }
    for (; at < end; at++) {
      hash = Long.rotateLeft(hash ^ (bytes[at] & 0xFF) * P5, 11) * P1;
    }
    hash = (hash ^ hash >>> 33) * P2;
    hash = (hash ^ hash >>> 29) * P3;
    return hash ^ hash >>> 32;
  }

  private static long round(long accumulator, long lane) {
    return Long.rotateLeft(accumulator + lane * P2, 31) * P1;
  }

  private static long merge(long hash, long accumulator) {
    return (hash ^ round(0, accumulator)) * P1 + P4;
  }
}
