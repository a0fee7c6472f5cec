package rowpath.tools;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.function.Function;

/** A JSON object as a map; an {@link UncheckedIOException} for anything else. */
public final class JsonReader implements Function<String, Map<String, Object>> {
  @Override
  public Map<String, Object> apply(String text) {
    try {
      return JSON.std.mapFrom(text);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
