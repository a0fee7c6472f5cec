package rowpath.layers;

import java.math.BigDecimal;
import java.sql.Connection;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;
import org.hibernate.query.NativeQuery;
import rowpath.Column;
import rowpath.LayerRows.Rows;
import rowpath.Phase;
import rowpath.jdbc.OwnQuery;

/** Hibernate: {@code createNativeQuery} with a scalar for each column, in a StatelessSession. */
public final class HibernateQuery extends OwnQuery {
  // Outside of texts, names and comments a colon would begin a parameter's name, and a question
  // mark would be a parameter.
  private static final Pattern UNQUOTED =
      Pattern.compile("'[^']*'|\"[^\"]*\"|--[^\n]*|/\\*(?s:.*?)\\*/|[:?]");

  private SessionFactory sessions;
  private Connection connection;

  @Override
  protected void open(Connection connection) {
    this.connection = connection;
    Configuration configuration = new Configuration();
    configuration.setProperty("hibernate.dialect", "org.hibernate.dialect.PostgreSQLDialect");
    configuration.setProperty("hibernate.boot.allow_jdbc_metadata_access", "false");
    sessions = configuration.buildSessionFactory();
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("hibernate-core", version(SessionFactory.class));
  }

  @Override
  protected Rows<?> raw(String sql, Phase phase) {
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
    sessions.close();
    super.close();
  }
}
