package rowpath;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the attributes of objects that columns name, nested objects' too: each by {@code name()},
 * {@code getName()} or the field, found once.
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
      Type type = find(at, of, column.name());
      many[at] = column.type() == rowpath.Type.ROWS;
      if (many[at] || column.type() == rowpath.Type.STRUCT) {
        nested[at] = new ObjectReader(classOf(type), column.fields());
      }
    }
  }

  /** Finds the accessor of an attribute; the attribute's declared type. */
  private Type find(int at, Class<?> of, String name) {
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    String getter = "get" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
    try {
      for (Method method : of.getDeclaredMethods()) {
        String called = method.getName();
        if (method.getParameterCount() == 0 && (called.equals(name) || called.equals(getter))) {
          method.setAccessible(true);
          accessors[at] = lookup.unreflect(method).asType(ACCESSOR);
          return method.getGenericReturnType();
        }
      }
      Field field = of.getDeclaredField(name);
      field.setAccessible(true);
      accessors[at] = lookup.unreflectGetter(field).asType(ACCESSOR);
      return field.getGenericType();
    } catch (ReflectiveOperationException none) {
      throw new Failure("internal", "", of.getName() + " has no attribute " + name);
    }
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
