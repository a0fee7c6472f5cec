package rowpath.layers;

import java.sql.Connection;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import rowpath.LayerRows.Rows;
import rowpath.Phase;
import rowpath.jdbc.OwnQuery;

/** Spring's JdbcTemplate: {@code query} with a RowMapper. */
public final class JdbcTemplateQuery extends OwnQuery {
  private JdbcTemplate jdbc;

  @Override
  protected void open(Connection connection) {
    jdbc = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("spring-jdbc", version(JdbcTemplate.class));
  }

  @Override
  protected Rows<?> raw(String sql, Phase phase) throws ReflectiveOperationException {
    RowReader reader = reader(phase);
    Binding binding = binding(phase);
    RowMapper<Object[]> mapper = (row, number) -> reader.read(row);
    return arrays(
        values ->
            values.length == 0
                ? jdbc.query(sql, mapper)
                : jdbc.query(sql, statement -> binding.bind(statement, values), mapper));
  }
}
