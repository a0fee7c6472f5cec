package rowpath.adapters;

import com.ibm.as400.access.AS400;
import com.ibm.as400.access.AS400Bin2;
import com.ibm.as400.access.AS400Bin4;
import com.ibm.as400.access.AS400Bin8;
import com.ibm.as400.access.AS400ByteArray;
import com.ibm.as400.access.AS400File;
import com.ibm.as400.access.AS400Float4;
import com.ibm.as400.access.AS400Float8;
import com.ibm.as400.access.AS400JDBCDriver;
import com.ibm.as400.access.AS400JDBCResultSetMetaData;
import com.ibm.as400.access.AS400PackedDecimal;
import com.ibm.as400.access.AS400Text;
import com.ibm.as400.access.BinaryFieldDescription;
import com.ibm.as400.access.CharacterFieldDescription;
import com.ibm.as400.access.Copyright;
import com.ibm.as400.access.FieldDescription;
import com.ibm.as400.access.FloatFieldDescription;
import com.ibm.as400.access.HexFieldDescription;
import com.ibm.as400.access.KeyedFile;
import com.ibm.as400.access.PackedDecimalFieldDescription;
import com.ibm.as400.access.QSYSObjectPathName;
import com.ibm.as400.access.RecordFormat;
import com.ibm.as400.access.SequentialFile;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import rowpath.Adapter;
import rowpath.Column;
import rowpath.Failure;
import rowpath.Getter;
import rowpath.Operation;
import rowpath.Options;
import rowpath.Phase;
import rowpath.RowLoop;
import rowpath.RowLoops;
import rowpath.SampleCounters;

/**
 * Record-level access of jt400: a file's records by key, or one after the other, without SQL.
 * Written by the driver's documentation: it has met our stand-in, no IBM i yet.
 */
public final class Jt400Records implements Adapter {
  private Options options;
  private AS400 system;

  @Override
  public void open(Options options) throws Exception {
    this.options = options;
    system = Jt400System.of(options);
    int port = Integer.parseInt(options.need("port"));
    for (int service : new int[] {AS400.SIGNON, AS400.DATABASE, AS400.RECORDACCESS}) {
      system.setServicePort(service, port);
    }
    system.connectService(AS400.RECORDACCESS);
  }

  @Override
  public Operation prepare(Phase phase, Object[][] rows) throws Exception {
    boolean keyed = phase.access().equals("read");
    if (!phase.kind().equals("query") || !(keyed || phase.scan())) {
      throw new Failure("unsupported", "", "records are read here by key, or all of them");
    }
    String table = phase.table().toUpperCase(Locale.ROOT);
    RecordFormat format = format(table);
    phase.parameterColumns().forEach(column -> format.addKeyFieldDescription(name(column)));
    String path = new QSYSObjectPathName(options.need("database"), table, "FILE").getPath();
    AS400File file = keyed ? new KeyedFile(system, path) : new SequentialFile(system, path);
    file.setRecordFormat(format);
    int block = Math.max(options.count("fetch", "block"), 1); // records a round trip
    file.open(AS400File.READ_ONLY, block, AS400File.COMMIT_LOCK_LEVEL_NONE);
    int[] fields =
        phase.columns().stream().mapToInt(one -> format.getIndexOfFieldName(name(one))).toArray();
    RowLoop<Jt400Row> loop = RowLoops.of(Jt400Row.class, phase.columns(), getters(phase.columns()));
    return new Reading(file, new Jt400Row(file, fields), keyed ? keys(format, rows) : null, loop);
  }

  /** Reads the record of a key, or with no keys all records. */
  private record Reading(AS400File file, Jt400Row records, Object[][] keys, RowLoop<Jt400Row> loop)
      implements Operation {
    @Override
    public void run(int row, SampleCounters counters) throws Exception {
      records.begin(keys == null ? null : keys[row]);
      counters.executed();
      counters.take(records, loop);
    }

    @Override
    public void close() throws Exception {
      file.close();
    }
  }

  @Override
  public List<Getter> getters(List<Column> columns) {
    return columns.stream().map(Jt400Records::getter).toList();
  }

  @Override
  public void facts(Facts facts) throws Exception {
    facts.reply().put("driver_version", Copyright.version);
    String release = system.getVersion() + "." + system.getRelease();
    facts.reply().put("engine_version", "IBM i " + release);
    boolean controlled = AS400File.isCommitmentControlStarted(system);
    facts.settings().put("autocommit", controlled ? "off" : "on");
  }

  @Override
  public void close() {
    system.disconnectAllServices();
  }

  private static String name(Column column) {
    return column.name().toUpperCase(Locale.ROOT);
  }

  /** A file's format, as JDBC describes its table: a program has it in its source. */
  private RecordFormat format(String table) throws Exception {
    RecordFormat format = new RecordFormat(table.substring(0, Math.min(table.length(), 10)));
    Properties properties = new Properties();
    properties.setProperty("libraries", options.need("database"));
    try (Connection connection = new AS400JDBCDriver().connect(system, properties, null, false);
        PreparedStatement all = connection.prepareStatement("SELECT * FROM " + table)) {
      AS400JDBCResultSetMetaData columns = (AS400JDBCResultSetMetaData) all.getMetaData();
      for (int at = 1; at <= columns.getColumnCount(); at++) {
        format.addFieldDescription(field(columns, at));
      }
    }
    return format;
  }

  private static FieldDescription field(AS400JDBCResultSetMetaData columns, int at)
      throws SQLException {
    String name = columns.getColumnName(at);
    int length = columns.getPrecision(at);
    int type = columns.getColumnType(at);
    return switch (type) {
      case Types.SMALLINT -> new BinaryFieldDescription(new AS400Bin2(), name);
      case Types.INTEGER -> new BinaryFieldDescription(new AS400Bin4(), name);
      case Types.BIGINT -> new BinaryFieldDescription(new AS400Bin8(), name);
      case Types.REAL -> new FloatFieldDescription(new AS400Float4(), name);
      case Types.DOUBLE -> new FloatFieldDescription(new AS400Float8(), name);
      case Types.DECIMAL ->
          new PackedDecimalFieldDescription(
              new AS400PackedDecimal(length, columns.getScale(at)), name);
      case Types.CHAR, Types.VARCHAR -> {
        AS400Text text = new AS400Text(length, columns.getColumnCCSID(at));
        CharacterFieldDescription field = new CharacterFieldDescription(text, name);
        field.setVariableLength(type == Types.VARCHAR);
        yield field;
      }
      case Types.VARBINARY -> {
        HexFieldDescription field = new HexFieldDescription(new AS400ByteArray(length), name);
        field.setVariableLength(true);
        yield field;
      }
      // As texts, each of its own length: the driver's own classes would make java.sql's of them.
      case Types.DATE -> new CharacterFieldDescription(new AS400Text(10, 37), name);
      case Types.TIME -> new CharacterFieldDescription(new AS400Text(8, 37), name);
      case Types.TIMESTAMP -> new CharacterFieldDescription(new AS400Text(26, 37), name);
      default ->
          throw new Failure("unsupported", "", "no field of " + columns.getColumnTypeName(at));
    };
  }

  /** Keys in the types of their fields. */
  private static Object[][] keys(RecordFormat format, Object[][] rows) {
    Object[][] keys = new Object[rows.length][];
    for (int row = 0; row < rows.length; row++) {
      keys[row] = rows[row].clone();
      for (int at = 0; at < keys[row].length; at++) {
        if (format.getKeyFieldDescription(at).getDataType() instanceof AS400Bin2) {
          keys[row][at] = ((Number) keys[row][at]).shortValue();
        }
      }
    }
    return keys;
  }

  private static Getter getter(Column column) {
    return switch (column.type()) {
      case INTEGER -> Getter.integer(column);
      case DECIMAL -> Getter.typed("getBigDecimal", BigDecimal.class);
      case FLOAT32 -> Getter.typed("getFloat", float.class);
      case FLOAT64 -> Getter.typed("getDouble", double.class);
      case BOOLEAN -> Getter.typed("getBoolean", boolean.class);
      case CHAR, VARCHAR, TEXT -> Getter.typed("getString", String.class);
      case BINARY -> Getter.typed("getBytes", byte[].class);
      case DATE -> new Getter(null, "getDate", null, LocalDate.class, true);
      case TIME -> new Getter(null, "getTime", null, LocalTime.class, true);
      case TIMESTAMP -> new Getter(null, "getTimestamp", null, LocalDateTime.class, true);
      default -> throw new Failure("unsupported", "", "no field of type " + column.type().word());
    };
  }
}
