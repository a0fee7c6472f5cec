import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the programs of layers and pools have in common: their settings, and the loop with its
 * clock; as in conversation.py.
 */
final class Conversation {
  /** Does an operation of a key, and gives what its objects touch. */
  interface Operation<K> {
    long run(K key) throws Exception;
  }

  private final BufferedReader in =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  private final Map<String, String> settings = new HashMap<>();

  /** What operations time themselves is added here. */
  long ownNs;

  Conversation() throws IOException {
    for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
      settings.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
    }
  }

  String get(String name) {
    return settings.get(name);
  }

  Connection connect() throws SQLException {
    return DriverManager.getConnection(get("url"), get("user"), get("password"));
  }

  /** Serves the operation that is asked for. */
  void serve(Operation<Integer> film, Operation<String> search) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(get("keys")));
    if (get("operation").equals("film")) {
      List<Integer> keys = new ArrayList<>();
      lines.forEach(line -> keys.add(Integer.valueOf(line)));
      serve(film, keys);
    } else {
      serve(search, lines);
    }
  }

  /** Serves an operation that takes a line of the file of keys. */
  void serve(Operation<String> operation) throws Exception {
    serve(operation, Files.readAllLines(Path.of(get("keys"))));
  }

  private <K> void serve(Operation<K> operation, List<K> keys) throws Exception {
    System.out.println("ready");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      long operations = Long.parseLong(line);
      long touch = 0;
      ownNs = 0;
      long begin = System.nanoTime();
      for (long i = 0; i < operations; i++) {
        touch += operation.run(keys.get((int) (i % keys.size())));
      }
      long ns = System.nanoTime() - begin;
      System.out.println(ns + " " + Long.toUnsignedString(touch) + " " + ownNs);
    }
  }
}
