package rowpath.layers;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.DynamicType;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;
import org.hibernate.query.NativeQuery;
import rowpath.Column;
import rowpath.LayerRows.Rows;
import rowpath.Phase;
import rowpath.jdbc.OwnQuery;

/**
 * Hibernate, in a StatelessSession: {@code createNativeQuery} with a scalar for each column; {@code
 * from Row} of a class that is made of the table's columns.
 */
public final class HibernateQuery extends OwnQuery {
  // Outside of texts, names and comments a colon would begin a parameter's name, and a question
  // mark would be a parameter.
  private static final Pattern UNQUOTED =
      Pattern.compile("'[^']*'|\"[^\"]*\"|--[^\n]*|/\\*(?s:.*?)\\*/|[:?]");

  private static final AtomicInteger MADE = new AtomicInteger();

  private final List<SessionFactory> opened = new ArrayList<>();
  private Connection connection;

  @Override
  protected void open(Connection connection) {
    this.connection = connection;
  }

  /** A factory that knows these classes. */
  private SessionFactory sessions(Class<?>... entities) {
    Configuration configuration = new Configuration();
    configuration.setProperty("hibernate.dialect", "org.hibernate.dialect.PostgreSQLDialect");
    configuration.setProperty("hibernate.boot.allow_jdbc_metadata_access", "false");
    // Else an entity's times of day go through java.sql.Time, which ends with milliseconds.
    configuration.setProperty("hibernate.type.java_time_use_direct_jdbc", "true");
    configuration.setProperty("hibernate.globally_quoted_identifiers", "true");
    Stream.of(entities).forEach(configuration::addAnnotatedClass);
    SessionFactory sessions = configuration.buildSessionFactory();
    opened.add(sessions);
    return sessions;
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("hibernate-core", version(SessionFactory.class));
  }

  @Override
  protected Rows<?> raw(String sql, Phase phase) {
    SessionFactory sessions = sessions();
    String signs = phase.parameterColumns().isEmpty() ? ":?" : ":";
    String escaped = UNQUOTED.matcher(sql).replaceAll(found -> escaped(found.group(), signs));
    return arrays(
        values -> {
          try (StatelessSession session = sessions.openStatelessSession(connection)) {
            NativeQuery<Object[]> query = session.createNativeQuery(escaped, Object[].class);
            query.setReadOnly(true);
            for (Column column : phase.columns()) {
              query.addScalar(column.name(), type(column));
            }
            for (int at = 0; at < values.length; at++) {
              query.setParameter(at + 1, values[at]);
            }
            return query.list();
          }
        });
  }

  private static String escaped(String found, String signs) {
    return Matcher.quoteReplacement(signs.contains(found) ? "\\" + found : found);
  }

  @Override
  protected Rows<?> mapped(Phase phase) throws ReflectiveOperationException {
    return objects(entity(phase), phase.tableColumns());
  }

  private <T> Rows<T> objects(Class<T> type, List<Column> attributes)
      throws ReflectiveOperationException {
    SessionFactory sessions = sessions(type);
    Field[] fields = new Field[attributes.size()];
    for (int at = 0; at < fields.length; at++) {
      fields[at] = type.getField(attributes.get(at).name());
    }
    return new Rows<>(
        values -> {
          try (StatelessSession session = sessions.openStatelessSession(connection)) {
            return session.createSelectionQuery("from Row", type).setReadOnly(true).list();
          }
        },
        (row, at) -> fields[at].get(row),
        row -> fields.length);
  }

  /** A class as a program would declare it, an attribute for each column. */
  private static Class<?> entity(Phase phase) throws IllegalAccessException {
    String[] parts = parts(phase);
    AnnotationDescription.Builder table =
        annotation(Table.class).define("name", parts[parts.length - 1]);
    DynamicType.Builder<?> made =
        new ByteBuddy()
            .subclass(Object.class)
            .implement(Serializable.class) // several columns are a key only of such a class
            .name("rowpath.layers.Row" + MADE.incrementAndGet())
            .annotateType(
                annotation(Entity.class).define("name", "Row").build(),
                (parts.length > 1 ? table.define("schema", parts[parts.length - 2]) : table)
                    .build());
    for (int at = 0; at < phase.columns().size(); at++) {
      Column column = phase.columns().get(at);
      List<AnnotationDescription> as = new ArrayList<>();
      as.add(annotation(jakarta.persistence.Column.class).define("name", column.name()).build());
      if (phase.keyColumns().contains(column.name())) {
        as.add(annotation(Id.class).build());
      }
      String attribute = phase.tableColumns().get(at).name();
      made = made.defineField(attribute, type(column), Visibility.PUBLIC).annotateField(as);
    }
    return MethodHandles.lookup().defineClass(made.make().getBytes());
  }

  private static AnnotationDescription.Builder annotation(Class<? extends Annotation> type) {
    return AnnotationDescription.Builder.ofType(type);
  }

  /** What the program asks for; of what Hibernate has no type its text. */
  private static Class<?> type(Column column) {
    return switch (column.type()) {
      case INTEGER ->
          column.bits() > 64
              ? BigDecimal.class
              : column.bits() > 32 ? Long.class : (Class<?>) Integer.class;
      case FLOAT32 -> Float.class;
      case FLOAT64 -> Double.class;
      case BOOLEAN -> Boolean.class;
      case DECIMAL, BINARY, DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ, UUID -> column.natural();
      case CHAR, VARCHAR, TEXT, JSON, BITS, INTERVAL, ARRAY, STRUCT, MAP, ROWS, ANY, OPAQUE ->
          String.class;
    };
  }

  @Override
  public void close() throws Exception {
    opened.forEach(SessionFactory::close);
    super.close();
  }
}
