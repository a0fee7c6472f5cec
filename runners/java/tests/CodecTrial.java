package rowpath;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;

/**
 * Answers, line by line, for tests/runners/protocol/test_codec.py: {@code hash HEX} with the XXH64
 * of the bytes; {@code value TYPE BITS NULLABLE HEX} with the bytes, digest and touch of the value
 * decoded from the codec's bytes; {@code date TEXT}, {@code time TEXT}, {@code timestamp TEXT},
 * {@code instant TEXT} with what {@link Iso} makes of the text.
 */
final class CodecTrial {
  private CodecTrial() {}

  public static void main(String[] arguments) throws IOException {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String answer;
      try {
        answer = answer(line.split(" ", 2)[0], line.substring(line.indexOf(' ') + 1));
      } catch (RuntimeException | ReflectiveOperationException misfit) {
        Throwable cause = misfit instanceof InvocationTargetException ? misfit.getCause() : misfit;
        answer = "error " + cause.getMessage();
      }
      System.out.println(answer);
    }
  }

  private static String answer(String kind, String rest) throws ReflectiveOperationException {
    return switch (kind) {
      case "hash" -> {
        byte[] bytes = HexFormat.of().parseHex(rest);
        yield String.format("%016x", XxHash64.hash(bytes, bytes.length));
      }
      case "value" -> value(rest.split(" "));
      case "date" -> Iso.date(rest).toString();
      case "time" -> Iso.time(rest).toString();
      case "timestamp" -> Iso.timestamp(rest).toString();
      case "instant" -> Iso.instant(rest).toString();
      default -> throw new IllegalArgumentException(kind);
    };
  }

  private static String value(String[] words) throws ReflectiveOperationException {
    Column column =
        new Column(
            "value",
            Type.named(words[0]),
            0,
            0,
            0,
            Integer.parseInt(words[1]),
            Boolean.parseBoolean(words[2]));
    ByteBuffer data = ByteBuffer.wrap(HexFormat.of().parseHex(words[3]));
    Object value = Decoder.value(data.order(ByteOrder.LITTLE_ENDIAN), column);
    Encoder encoder = new Encoder(List.of(column), 1);
    Class<?> natural = column.type().natural;
    long touch;
    if (natural.isPrimitive()) {
      Method encode = Encoder.class.getMethod(column.type().encoder, natural, boolean.class);
      Object zero = natural == boolean.class ? (Object) false : Integer.valueOf(0);
      Object given = value == null ? zero : value;
      if (given instanceof Number number) {
        given = primitive(natural, number);
      }
      touch = (long) encode.invoke(encoder, given, value == null);
    } else {
      Method encode = Encoder.class.getMethod(column.type().encoder, natural);
      touch = (long) encode.invoke(encoder, value);
    }
    String bytes = HexFormat.of().formatHex(encoder.row());
    encoder.endRow();
    return String.format("%s %s %016x", bytes, encoder.digest(), touch);
  }

  private static Object primitive(Class<?> natural, Number value) {
    if (natural == long.class) {
      return new BigDecimal(value.toString()).longValueExact();
    }
    if (natural == float.class) {
      return value.floatValue();
    }
    return value.doubleValue();
  }
}
