package rowpath;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Arrays in text: {@code [2:3]={1,NULL}}, <code>{{"a b"},{c}}</code>. */
final class ArrayText {
  private static final Pattern BOUNDS = Pattern.compile("\\[(-?\\d+):-?\\d+]");
  private final String text;
  private final List<Integer> lower = new ArrayList<>();
  private int at;

  private ArrayText(String text) {
    this.text = text;
  }

  /** A List or {@link Bounded}, its elements text, null or nested; null for any other text. */
  static Object parse(String text) {
    ArrayText parser = new ArrayText(text);
    Matcher bounds = BOUNDS.matcher(text);
    while (bounds.find() && bounds.start() == parser.at) {
      parser.lower.add(Integer.parseInt(bounds.group(1)));
      parser.at = bounds.end();
    }
    if (!parser.lower.isEmpty() && text.startsWith("=", parser.at)) {
      parser.at++;
    }
    try {
      Object array = text.startsWith("{", parser.at) ? parser.array(0) : null;
      return parser.at == text.length() ? array : null;
    } catch (StringIndexOutOfBoundsException unfinished) {
      return null;
    }
  }

  private Object array(int dimension) {
    List<Object> elements = new ArrayList<>();
    at++;
    while (text.charAt(at) != '}') {
      elements.add(text.charAt(at) == '{' ? array(dimension + 1) : element());
      if (text.charAt(at) == ',') {
        at++;
      }
    }
    at++;
    int first = dimension < lower.size() ? lower.get(dimension) : 1;
    return first == 1 ? elements : new Bounded(first, elements);
  }

  private String element() {
    StringBuilder value = new StringBuilder();
    boolean quoted = text.charAt(at) == '"';
    at += quoted ? 1 : 0;
    while (quoted ? text.charAt(at) != '"' : ",}".indexOf(text.charAt(at)) < 0) {
      at += text.charAt(at) == '\\' ? 1 : 0;
      value.append(text.charAt(at++));
    }
    at += quoted ? 1 : 0;
    return !quoted && value.toString().equals("NULL") ? null : value.toString();
  }
}
