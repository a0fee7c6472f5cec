package rowpath;

import java.nio.charset.CharacterCodingException;
import java.nio.file.NoSuchFileException;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLNonTransientConnectionException;
import java.time.DateTimeException;
import java.util.LinkedHashMap;
import java.util.Map;

/** An error with the protocol's kind and the driver's own code. */
public final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String kind;
  private final String code;

  /** Kinds: connect, sql, unsupported, verify, timeout, internal; an empty code means none. */
  public Failure(String kind, String code, String text) {
    super(text);
    this.kind = kind;
    this.code = code;
  }

  /** That a pool gave no connection. */
  public static Failure unconnected(SQLException thrown) {
    Failure failure = new Failure("connect", code(thrown), thrown.getMessage());
    failure.initCause(thrown);
    return failure;
  }

  /**
   * What a driver threw, as the protocol's error body; {@code kind} is used where the cause has
   * none.
   */
  static Map<String, Object> body(Throwable thrown, String kind) {
    String code = "";
    if (thrown instanceof Failure failure) {
      kind = failure.kind;
      code = failure.code;
    } else if (thrown instanceof SQLFeatureNotSupportedException feature) {
      kind = "unsupported";
      code = code(feature);
    } else if (thrown instanceof SQLException sql) {
      code = code(sql);
      boolean lost = // some engines have states of their own for that
          code.startsWith("08") || sql instanceof SQLNonTransientConnectionException;
      kind = lost ? "connect" : kind;
    } else if (thrown instanceof NoSuchFileException) {
      kind = "connect";
      code = "ENOENT";
    } else if (thrown instanceof CharacterCodingException) {
      kind = "verify"; // a file that is no text
    } else if (thrown instanceof DateTimeException
        || thrown instanceof NumberFormatException
        || thrown instanceof ClassCastException) {
      code = thrown.getClass().getSimpleName(); // of a driver that has no such value
    } else if (thrown instanceof UnsupportedOperationException) {
      kind = "unsupported";
      code = thrown.getClass().getSimpleName();
    } else if (thrown instanceof OutOfMemoryError full) {
      kind = "unsupported";
      code = "OutOfMemoryError";
      long megabytes = Runtime.getRuntime().maxMemory() >> 20;
      thrown =
          new Failure(
              kind,
              code,
              "no room in the JVM's heap of " + megabytes + " MB: " + full.getMessage());
    } else if (thrown instanceof Error || thrown instanceof RuntimeException) {
      kind = "internal";
      code = thrown.getClass().getSimpleName();
    }
    String text = String.valueOf(thrown.getMessage());
    for (Throwable cause = thrown.getCause(); cause != null; cause = cause.getCause()) {
      if (cause.getMessage() != null && !text.contains(cause.getMessage())) {
        text += ": " + cause.getMessage();
      }
    }
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("kind", kind);
    body.put("code", code);
    body.put("text", plain(text));
    return body;
  }

  /** A text without control characters. */
  static String plain(String text) {
    return text.replaceAll("\\p{Cntrl}+", " ").strip();
  }

  private static String code(SQLException thrown) {
    String state = thrown.getSQLState();
    return state == null || state.isEmpty() ? Integer.toString(thrown.getErrorCode()) : state;
  }
}
