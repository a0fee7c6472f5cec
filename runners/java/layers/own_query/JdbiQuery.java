package rowpath.layers;

import java.sql.Connection;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.statement.Query;
import rowpath.LayerRows.Rows;
import rowpath.Phase;
import rowpath.jdbc.OwnQuery;

/** Jdbi: a handle's {@code createQuery} with a RowMapper; its text is not read for names. */
public final class JdbiQuery extends OwnQuery {
  private Handle handle;

  @Override
  protected void open(Connection connection) {
    handle = Jdbi.create(connection).open();
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("jdbi3-core", version(Jdbi.class));
  }

  @Override
  protected Rows<?> raw(String sql, Phase phase) throws ReflectiveOperationException {
    RowReader reader = reader(phase);
    RowMapper<Object[]> mapper = (row, context) -> reader.read(row);
    return arrays(
        values -> {
          try (Query query = handle.createQuery(sql)) {
            for (int at = 0; at < values.length; at++) {
              query.bind(at, values[at]);
            }
            return query.map(mapper).list();
          }
        });
  }
}
