package rowpath.layers;

import java.sql.Connection;
import java.util.Map;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;
import org.hibernate.query.NativeQuery;
import rowpath.LayerRows.Rows;
import rowpath.Phase;
import rowpath.jdbc.OwnQuery;

/** Hibernate: {@code createNativeQuery} in a StatelessSession for each operation. */
public final class HibernateQuery extends OwnQuery {
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
    String escaped = sql.replace(":", "\\:");
    return new Rows<Object[]>(
        values -> {
          try (StatelessSession session = sessions.openStatelessSession(connection)) {
            NativeQuery<Object[]> query = session.createNativeQuery(escaped, Object[].class);
            query.setReadOnly(true);
            for (int at = 0; at < values.length; at++) {
              query.setParameter(at + 1, values[at]);
            }
            return query.list();
          }
        },
        (row, at) -> row[at]);
  }

  @Override
  public void close() throws Exception {
    sessions.close();
    super.close();
  }
}
