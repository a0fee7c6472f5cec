package rowpath.layers;

import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.jooq.Constants;
import org.jooq.DSLContext;
import org.jooq.DataType;
import org.jooq.Field;
import org.jooq.JSONB;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jooq.types.DayToSecond;
import org.jooq.types.YearToSecond;
import rowpath.Column;
import rowpath.Interval;
import rowpath.LayerRows.Rows;
import rowpath.Phase;
import rowpath.jdbc.OwnQuery;

/** jOOQ: {@code resultQuery} of a text, {@code select} of a table's fields by their types. */
public final class JooqQuery extends OwnQuery {
  private static final long SECOND_NS = 1_000_000_000L;
  private DSLContext create;

  @Override
  protected void open(Connection connection) {
    System.setProperty("org.jooq.no-logo", "true");
    System.setProperty("org.jooq.no-tips", "true");
    Settings settings = new Settings().withExecuteLogging(false);
    create = DSL.using(connection, SQLDialect.POSTGRES, settings);
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("jooq", Constants.FULL_VERSION);
  }

  @Override
  protected Rows<?> raw(String sql, Phase phase) {
    return new Rows<>(
        values ->
            values.length == 0
                ? create.resultQuery(sql).fetch()
                : create.resultQuery(sql, values).fetch(),
        JooqQuery::value,
        Record::size);
  }

  @Override
  protected Rows<?> mapped(Phase phase) {
    List<Field<?>> fields = phase.columns().stream().<Field<?>>map(JooqQuery::field).toList();
    Table<?> table = DSL.table(DSL.name(parts(phase)));
    return new Rows<>(
        values -> create.select(fields).from(table).fetch(), JooqQuery::value, Record::size);
  }

  private static Field<?> field(Column column) {
    return DSL.field(DSL.name(column.name()), type(column));
  }

  private static DataType<?> type(Column column) {
    return switch (column.type()) {
      case INTEGER ->
          column.bits() > 64
              ? SQLDataType.NUMERIC
              : column.bits() > 32 ? SQLDataType.BIGINT : SQLDataType.INTEGER;
      case DECIMAL -> SQLDataType.NUMERIC;
      case FLOAT32 -> SQLDataType.REAL;
      case FLOAT64 -> SQLDataType.DOUBLE;
      case BOOLEAN -> SQLDataType.BOOLEAN;
      case CHAR, VARCHAR, TEXT, BITS -> SQLDataType.VARCHAR;
      case JSON -> SQLDataType.JSON;
      case BINARY -> SQLDataType.VARBINARY;
      case DATE -> SQLDataType.LOCALDATE;
      case TIME -> SQLDataType.LOCALTIME;
      case TIMETZ -> SQLDataType.OFFSETTIME;
      case TIMESTAMP -> SQLDataType.LOCALDATETIME;
      case TIMESTAMPTZ -> SQLDataType.OFFSETDATETIME;
      case INTERVAL -> SQLDataType.INTERVAL;
      case UUID -> SQLDataType.UUID;
      case ARRAY -> type(column.fields().get(0)).array();
      case STRUCT, MAP, ROWS, ANY, OPAQUE -> SQLDataType.OTHER;
    };
  }

  /** A value as it comes; of jOOQ's own intervals and documents what they hold. */
  private static Object value(Record row, int at) {
    Object value = row.get(at);
    if (value instanceof YearToSecond interval) {
      return interval(interval);
    }
    return value instanceof JSONB document ? document.data() : value; // its text is another
  }

  private static Interval interval(YearToSecond of) {
    DayToSecond rest = of.getDayToSecond();
    int sign = rest.getSign();
    long seconds = rest.getHours() * 3600L + rest.getMinutes() * 60L + rest.getSeconds();
    return new Interval(
        of.getYearToMonth().intValue(),
        sign * rest.getDays(),
        sign * (seconds * SECOND_NS + rest.getNano()));
  }
}
