package rowpath;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * {@code rowpath.Main --adapter DRIVER --class CLASS [--layer CLASS] [--pool CLASS]}: the Java
 * runner of the protocol in PROTOCOL.md.
 *
 * <p>The command that starts it has moved the real stdout to descriptor 3, see toolchains/java.py:
 * Java cannot.
 */
public final class Main {
  private Main() {}

  /** Watches stdin on this thread; the loop and everything else run on a thread of their own. */
  public static void main(String[] arguments) throws IOException {
    Map<String, String> given = new HashMap<>();
    for (int at = 0; at + 1 < arguments.length; at += 2) {
      given.put(arguments[at], arguments[at + 1]);
    }
    boolean known = Set.of("--adapter", "--class", "--layer", "--pool").containsAll(given.keySet());
    if (!known
        || arguments.length != 2 * given.size()
        || !given.keySet().containsAll(Set.of("--adapter", "--class"))) {
      System.err.println(
          "usage: rowpath.Main --adapter DRIVER --class CLASS [--layer CLASS] [--pool CLASS]");
      System.exit(2);
    }
    BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    Session session =
        new Session(
            given.get("--adapter"),
            given.get("--class"),
            given.get("--layer"),
            given.get("--pool"),
            requests);
    Thread loop = new Thread(null, session, "rowpath-loop", 16 << 20);
    loop.setDaemon(true);
    loop.start();
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      requests.add(line);
    }
    if (!session.ended()) {
      // The controller is gone: stop at once, in the middle of a sample too.
      Runtime.getRuntime().halt(0);
    }
  }
}
