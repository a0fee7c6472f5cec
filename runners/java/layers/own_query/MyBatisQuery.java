package rowpath.layers;

import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.ibatis.builder.StaticSqlSource;
import org.apache.ibatis.datasource.unpooled.UnpooledDataSource;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.mapping.MappedStatement;
import org.apache.ibatis.mapping.ParameterMapping;
import org.apache.ibatis.mapping.ResultMap;
import org.apache.ibatis.mapping.ResultMapping;
import org.apache.ibatis.mapping.SqlCommandType;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.LocalCacheScope;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.managed.ManagedTransactionFactory;
import org.apache.ibatis.type.ArrayTypeHandler;
import org.apache.ibatis.type.BigDecimalTypeHandler;
import org.apache.ibatis.type.BooleanTypeHandler;
import org.apache.ibatis.type.ByteArrayTypeHandler;
import org.apache.ibatis.type.DoubleTypeHandler;
import org.apache.ibatis.type.FloatTypeHandler;
import org.apache.ibatis.type.IntegerTypeHandler;
import org.apache.ibatis.type.LocalDateTimeTypeHandler;
import org.apache.ibatis.type.LocalDateTypeHandler;
import org.apache.ibatis.type.LocalTimeTypeHandler;
import org.apache.ibatis.type.LongTypeHandler;
import org.apache.ibatis.type.ObjectTypeHandler;
import org.apache.ibatis.type.OffsetDateTimeTypeHandler;
import org.apache.ibatis.type.OffsetTimeTypeHandler;
import org.apache.ibatis.type.StringTypeHandler;
import org.apache.ibatis.type.TypeHandler;
import rowpath.Column;
import rowpath.LayerRows.Rows;
import rowpath.Phase;
import rowpath.jdbc.OwnQuery;

/**
 * MyBatis: {@code selectList} of a statement made at run time, whose result map names each column
 * and its type; a row is a map. The text is not read for {@code #{…}}.
 */
public final class MyBatisQuery extends OwnQuery {
  private static final String ID = "own";

  private Connection connection;

  @Override
  protected void open(Connection connection) {
    this.connection = connection;
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("mybatis", version(SqlSession.class));
  }

  @Override
  protected Rows<?> raw(String sql, Phase phase) {
    String[] names = names(phase.columns().size());
    String[] parameters = names(phase.parameterColumns().size());
    SqlSessionFactory factory = new SqlSessionFactoryBuilder().build(configuration(sql, phase));
    return new Rows<Map<String, Object>>(
        values -> {
          Map<String, Object> given = new HashMap<>();
          for (int at = 0; at < values.length; at++) {
            given.put(parameters[at], values[at]);
          }
          try (SqlSession session = factory.openSession(connection)) {
            return session.selectList(ID, given);
          }
        },
        (row, at) -> row.get(names[at]),
        Map::size);
  }

  /** Keys of maps; a column's own name could hold a point or a bracket, which MyBatis reads. */
  private static String[] names(int count) {
    return IntStream.rangeClosed(1, count).mapToObj(at -> "c" + at).toArray(String[]::new);
  }

  private static Configuration configuration(String sql, Phase phase) {
    ManagedTransactionFactory transactions = new ManagedTransactionFactory();
    Properties properties = new Properties();
    properties.setProperty("closeConnection", "false"); // the driver's adapter closes it
    transactions.setProperties(properties);
    // An environment must have a source of connections; a session is given its own.
    Configuration made =
        new Configuration(new Environment(ID, transactions, new UnpooledDataSource()));
    made.setLocalCacheScope(LocalCacheScope.STATEMENT);
    made.setCallSettersOnNulls(true);
    made.setReturnInstanceForEmptyRow(true);
    List<ParameterMapping> parameters =
        Stream.of(names(phase.parameterColumns().size()))
            .map(name -> new ParameterMapping.Builder(made, name, Object.class).build())
            .toList();
    String[] names = names(phase.columns().size());
    List<ResultMapping> columns =
        IntStream.range(0, names.length)
            .mapToObj(at -> mapping(made, names[at], phase.columns().get(at)))
            .toList();
    StaticSqlSource source = new StaticSqlSource(made, sql, parameters);
    ResultMap result = new ResultMap.Builder(made, ID, HashMap.class, columns, false).build();
    made.addMappedStatement(
        new MappedStatement.Builder(made, ID, source, SqlCommandType.SELECT)
            .resultMaps(List.of(result))
            .build());
    return made;
  }

  private static ResultMapping mapping(Configuration made, String name, Column column) {
    return new ResultMapping.Builder(made, name, column.name(), handler(column)).build();
  }

  /** What a program asks for; of what MyBatis has no type its text. */
  private static TypeHandler<?> handler(Column column) {
    return switch (column.type()) {
      case INTEGER ->
          column.bits() > 64
              ? new BigDecimalTypeHandler()
              : column.bits() > 32 ? new LongTypeHandler() : new IntegerTypeHandler();
      case DECIMAL -> new BigDecimalTypeHandler();
      case FLOAT32 -> new FloatTypeHandler();
      case FLOAT64 -> new DoubleTypeHandler();
      case BOOLEAN -> new BooleanTypeHandler();
      case BINARY -> new ByteArrayTypeHandler();
      case DATE -> new LocalDateTypeHandler();
      case TIME -> new LocalTimeTypeHandler();
      case TIMETZ -> new OffsetTimeTypeHandler();
      case TIMESTAMP -> new LocalDateTimeTypeHandler();
      case TIMESTAMPTZ -> new OffsetDateTimeTypeHandler();
      case UUID -> new ObjectTypeHandler();
      case ARRAY ->
          switch (column.fields().get(0).type()) {
            case DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ, INTERVAL -> new StringTypeHandler();
            default -> new ArrayTypeHandler();
          };
      case CHAR, VARCHAR, TEXT, JSON, BITS, INTERVAL, STRUCT, MAP, ROWS, ANY, OPAQUE ->
          new StringTypeHandler();
    };
  }
}
