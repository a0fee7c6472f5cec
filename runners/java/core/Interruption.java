package rowpath;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A request to have a long statement stopped: {@code way} is {@code cancel} or {@code timeout},
 * asked for after {@code afterMs}; after {@code mostMs} the wait ends.
 */
public record Interruption(String way, String sql, long afterMs, long mostMs) {
  /** Whether the statement ended early with an error, when, and what is left of the connection. */
  public record Outcome(boolean honoured, long tookNs, boolean usable, String text) {
    Map<String, Object> reply() {
      Map<String, Object> reply = new LinkedHashMap<>();
      reply.put("honoured", honoured);
      reply.put("took_ns", tookNs);
      reply.put("usable", usable);
      reply.put("text", Failure.plain(text));
      return reply;
    }
  }
}
