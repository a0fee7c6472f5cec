package rowpath.tools;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.function.Function;

/** A map as one line of JSON. */
public final class JsonWriter implements Function<Map<String, Object>, String> {
  @Override
  public String apply(Map<String, Object> object) {
    try {
      return JSON.std.with(JSON.Feature.WRITE_NULL_PROPERTIES).asString(object);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
