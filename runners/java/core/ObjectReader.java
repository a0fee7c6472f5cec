package rowpath;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the attributes of objects that columns name, nested objects' too: each by {@code name()} or
 * {@code getName()}, found once.
 */
final class ObjectReader {
  private static final MethodType ACCESSOR = MethodType.methodType(Object.class, Object.class);

  private final MethodHandle[] accessors;
  private final ObjectReader[] nested; // null: a plain value
  private final boolean[] many;

  /** {@link Failure} of kind {@code internal} where the class has no such attribute. */
  ObjectReader(Class<?> of, List<Column> columns) {
    int count = columns.size();
    accessors = new MethodHandle[count];
    nested = new ObjectReader[count];
    many = new boolean[count];
    for (int at = 0; at < count; at++) {
      Column column = columns.get(at);
      Method method = accessor(of, column.name());
      try {
        method.setAccessible(true);
        accessors[at] = MethodHandles.lookup().unreflect(method).asType(ACCESSOR);
      } catch (IllegalAccessException hidden) {
        throw new Failure("internal", "", "closed: " + method);
      }
      many[at] = column.type() == rowpath.Type.ROWS;
      if (many[at] || column.type() == rowpath.Type.STRUCT) {
        nested[at] = new ObjectReader(classOf(method.getGenericReturnType()), column.fields());
      }
    }
  }

  private static Method accessor(Class<?> of, String name) {
    String getter = "get" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
    for (Method method : of.getDeclaredMethods()) {
      String called = method.getName();
      if (method.getParameterCount() == 0 && (called.equals(name) || called.equals(getter))) {
        return method;
      }
    }
    throw new Failure("internal", "", of.getName() + " has no attribute " + name);
  }

  /** The class itself, or that of a collection's elements. */
  private static Class<?> classOf(Type type) {
    return type instanceof ParameterizedType collection
        ? (Class<?>) collection.getActualTypeArguments()[0]
        : (Class<?>) type;
  }

  /** The attributes' values; of a nested object likewise, of many a list. */
  Object[] read(Object of) throws Throwable {
    Object[] values = new Object[accessors.length];
    for (int at = 0; at < values.length; at++) {
      Object value = (Object) accessors[at].invokeExact(of);
      ObjectReader inner = nested[at];
      values[at] =
          inner == null || value == null
              ? value
              : many[at] ? inner.readAll((Iterable<?>) value) : inner.read(value);
    }
    return values;
  }

  private List<Object[]> readAll(Iterable<?> objects) throws Throwable {
    List<Object[]> rows = new ArrayList<>();
    for (Object object : objects) {
      rows.add(read(object));
    }
    return rows;
  }
}
