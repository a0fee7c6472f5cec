package rowpath;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Answers, line by line, for tests/runners/java/test_codec.py: {@code hash HEX} with the XXH64 of
 * the bytes; {@code value VECTOR} and {@code decode VECTOR} with the bytes, hash and touch of the
 * vector's value and of what its bytes are decoded to; {@code result VECTOR} with what {@code
 * verify} replies; {@code date TEXT}, {@code time TEXT}, {@code timestamp TEXT}, {@code instant
 * TEXT} with what {@link Iso} makes of the text.
 */
final class CodecTrial {
  private CodecTrial() {}

  public static void main(String[] arguments) throws IOException {
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String answer;
      try {
        answer = answer(line.split(" ", 2)[0], line.substring(line.indexOf(' ') + 1));
      } catch (Exception misfit) {
        answer = "error " + misfit;
      }
      System.out.println(answer);
    }
  }

  private static String answer(String kind, String rest) throws Exception {
    return switch (kind) {
      case "hash" -> {
        byte[] bytes = HexFormat.of().parseHex(rest);
        yield String.format("%016x", XxHash64.hash(bytes, bytes.length));
      }
      case "value", "decode" -> value(Tools.parse(rest), kind.equals("decode"));
      case "result" -> result(Tools.parse(rest));
      case "date" -> Iso.date(rest).toString();
      case "time" -> Iso.time(rest).toString();
      case "timestamp" -> Iso.timestamp(rest).toString();
      case "instant" -> Iso.instant(rest).toString();
      default -> throw new IllegalArgumentException(kind);
    };
  }

  private static String value(Map<String, Object> vector, boolean decoded) throws Exception {
    Column column = columns(List.of(vector.get("column"))).get(0);
    Object value = natural(vector.get("value"), column);
    if (decoded) {
      byte[] given = HexFormat.of().parseHex((String) vector.get("bytes"));
      ByteBuffer data = ByteBuffer.wrap(given).order(ByteOrder.LITTLE_ENDIAN);
      value = Decoder.value(data, column);
    }
    Encoder encoder = new Encoder(List.of(column), 1);
    encoder.beginRow(null);
    long touch = encode(encoder, value, column);
    String bytes = HexFormat.of().formatHex(encoder.row());
    encoder.endRow();
    Map<String, Object> reply = new LinkedHashMap<>();
    encoder.report(reply);
    long inLoop = inLoop(value, column);
    String touches = inLoop == touch ? "" : String.format(" but %016x in the loop", inLoop);
    String met = ((Map<?, ?>) ((List<?>) reply.get("columns")).get(0)).toString();
    String foreign = met.contains("foreign=") ? " foreign" : "";
    return String.format("%s %s %016x%s%s", bytes, reply.get("digest"), touch, touches, foreign);
  }

  /** What the row loop without a digest takes for a natural value's touch. */
  private static long inLoop(Object value, Column column) throws ReflectiveOperationException {
    Class<?> natural = column.natural();
    if (value == null) {
      return 1;
    }
    if (natural.isPrimitive()) {
      Object given = primitive(natural, value);
      return given == null
          ? Touch.of(value, column.type())
          : (long) Touch.class.getMethod("of", natural).invoke(null, given);
    }
    Class<?> taken = natural == UUID.class ? Object.class : natural;
    return natural.isInstance(value)
        ? (long) Touch.class.getMethod("of", taken).invoke(null, value)
        : Touch.of(value, column.type());
  }

  private static long encode(Encoder encoder, Object value, Column column) {
    Class<?> natural = column.natural();
    Object given = natural.isPrimitive() && value != null ? primitive(natural, value) : null;
    if (given instanceof Long number) {
      return encoder.integer(number, false);
    }
    if (given instanceof Float number) {
      return encoder.float32(number, false);
    }
    if (given instanceof Double number) {
      return encoder.float64(number, false);
    }
    return given instanceof Boolean truth ? encoder.truth(truth, false) : encoder.value(value);
  }

  /** Null where the value is none of that type. */
  private static Object primitive(Class<?> natural, Object value) {
    if (natural == boolean.class) {
      return value;
    }
    if (!(value instanceof Number number)) {
      return null;
    }
    if (natural == long.class) {
      boolean fits = new BigInteger(number.toString()).bitLength() < 64;
      return fits ? (Object) number.longValue() : null;
    }
    return natural == float.class ? (Object) number.floatValue() : (Object) number.doubleValue();
  }

  private static String result(Map<String, Object> vector) {
    List<Column> columns = columns((List<?>) vector.get("columns"));
    Encoder encoder = new Encoder(columns, 200_000);
    for (Object row : (List<?>) vector.get("rows")) {
      encoder.beginRow(null);
      for (int at = 0; at < columns.size(); at++) {
        encode(encoder, natural(((List<?>) row).get(at), columns.get(at)), columns.get(at));
      }
      encoder.endRow();
    }
    Map<String, Object> reply = new LinkedHashMap<>();
    encoder.report(reply);
    return Tools.format(reply);
  }

  private static List<Column> columns(List<?> declared) {
    return Column.list(declared);
  }

  /** A vector's value as Java has it; text where Java has none: 0044-03-15 BC. */
  private static Object natural(Object value, Column column) {
    if (value instanceof Map<?, ?> spelt) {
      return spelt(spelt, column);
    }
    if (value == null || value instanceof Boolean) {
      return value;
    }
    return switch (column.type()) {
      case ARRAY -> elements((List<?>) value, column).toArray();
      case STRUCT -> members((List<?>) value, column).toArray();
      case MAP -> {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (Object pair : (List<?>) value) {
          List<Object> entry = members((List<?>) pair, column);
          map.put(entry.get(0), entry.get(1));
        }
        yield map;
      }
      case ROWS ->
          ((List<?>) value).stream().map(row -> members((List<?>) row, column).toArray()).toList();
      case CHAR, VARCHAR, TEXT, JSON, BITS, ANY, OPAQUE -> value;
      case INTERVAL ->
          value instanceof List<?> parts
              ? new Interval(
                  number(parts, 0), number(parts, 1), ((Number) parts.get(2)).longValue())
              : value;
      case INTEGER -> whole(value.toString());
      case DECIMAL -> Numbers.of(value);
      case FLOAT32, FLOAT64 -> Double.valueOf(value.toString().replace("inf", "Infinity"));
      case BINARY -> HexFormat.of().parseHex((String) value);
      case UUID -> UUID.fromString((String) value);
      default -> moment((String) value, column.type());
    };
  }

  private static Object whole(String digits) {
    BigInteger whole = new BigInteger(digits);
    return whole.bitLength() < 64 ? (Object) whole.longValue() : new BigDecimal(whole);
  }

  private static int number(List<?> parts, int at) {
    return ((Number) parts.get(at)).intValue();
  }

  private static Object moment(String text, Type type) {
    String joined = text.replace(' ', 'T');
    try {
      return switch (type) {
        case DATE -> LocalDate.parse(text);
        case TIME -> LocalTime.parse(text);
        case TIMETZ -> OffsetTime.parse(text);
        case TIMESTAMP -> LocalDateTime.parse(joined);
        default -> OffsetDateTime.parse(joined);
      };
    } catch (DateTimeException none) {
      return text;
    }
  }

  private static Object spelt(Map<?, ?> spelt, Column column) {
    if (spelt.get("hex") instanceof String hex) {
      return HexFormat.of().parseHex(hex);
    }
    if (spelt.get("integer") instanceof String digits) {
      return whole(digits);
    }
    if (spelt.get("float") instanceof String digits) {
      return Double.valueOf(digits);
    }
    List<?> elements = elements((List<?>) spelt.get("elements"), column);
    return new Bounded(((Number) spelt.get("lower")).intValue(), elements);
  }

  private static List<Object> elements(List<?> values, Column column) {
    Column element = column.fields().get(0);
    List<Object> elements = new ArrayList<>();
    for (Object value : values) {
      boolean deeper = value instanceof List || value instanceof Map;
      boolean plain = element.fields().isEmpty();
      elements.add(natural(value, deeper && plain ? column : element));
    }
    return elements;
  }

  private static List<Object> members(List<?> values, Column column) {
    List<Object> members = new ArrayList<>();
    for (int at = 0; at < values.size(); at++) {
      members.add(natural(values.get(at), column.fields().get(at)));
    }
    return members;
  }
}
