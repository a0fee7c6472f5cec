package rowpath;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The runner's own libraries (JSON, bytecode), in a class loader of their own.
 *
 * <p>A driver may bring another version of the same library: neither ever sees the other's. Their
 * class path is the system property {@code rowpath.tools}.
 */
final class Tools {
  private static final ClassLoader LOADER = loader();
  private static final Function<String, Map<String, Object>> READER = make("JsonReader");
  private static final Function<Map<String, Object>, String> WRITER = make("JsonWriter");
  private static final Function<List<String[]>, byte[]> ROW_LOOP = make("RowLoopWriter");

  private Tools() {}

  static Map<String, Object> parse(String text) {
    return READER.apply(text);
  }

  static String format(Map<String, Object> object) {
    return WRITER.apply(object);
  }

  static byte[] rowLoop(List<String[]> shape) {
    return ROW_LOOP.apply(shape);
  }

  private static ClassLoader loader() {
    List<URL> path = new ArrayList<>();
    try {
      for (String entry : System.getProperty("rowpath.tools").split(File.pathSeparator)) {
        path.add(new File(entry).toURI().toURL());
      }
    } catch (MalformedURLException broken) {
      throw new IllegalStateException(broken);
    }
    return new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
  }

  @SuppressWarnings("unchecked")
  private static <A, B> Function<A, B> make(String name) {
    try {
      return (Function<A, B>)
          LOADER.loadClass("rowpath.tools." + name).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException broken) {
      throw new IllegalStateException(broken);
    }
  }
}
