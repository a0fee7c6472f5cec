package rowpath.adapters;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import rowpath.Adapter;
import rowpath.Column;
import rowpath.Failure;
import rowpath.Getter;
import rowpath.Operation;
import rowpath.Options;
import rowpath.Phase;
import rowpath.RowLoop;
import rowpath.RowLoops;
import rowpath.delimited.DelimitedAggregate;
import rowpath.delimited.DelimitedDialect;
import rowpath.delimited.DelimitedRecord;
import rowpath.delimited.DelimitedRow;
import rowpath.delimited.DelimitedSegment;

/** A whole table from {@code TABLE.tbl} (runners/PROTOCOL.md, Delimited text files). */
public final class DelimitedFile implements Adapter {
  private Path directory;
  private DelimitedDialect dialect;

  @Override
  public void open(Options options) {
    directory = Path.of(options.need("path"));
    dialect = DelimitedDialect.of(options);
    if (!Files.isDirectory(directory)) {
      throw new Failure("connect", "ENOENT", directory + " is no directory");
    }
  }

  @Override
  public Operation prepare(Phase phase, Object[][] rows) {
    Path file = directory.resolve(phase.table() + ".tbl");
    if (phase.access().equals("aggregate")) {
      return aggregate(phase, file);
    }
    boolean segment = phase.access().equals("segment");
    if (!phase.kind().equals("query") || !(phase.scan() || segment)) {
      throw new Failure("unsupported", "", "a text file delivers whole tables only");
    }
    if (segment && dialect.hasQuote()) {
      throw new Failure(
          "unsupported",
          "",
          "a quoted field may have line ends in it: no part of such a file is read by its bytes");
    }
    int columns = phase.columns().size();
    RowLoop<DelimitedRow> loop =
        RowLoops.of(DelimitedRow.class, phase.columns(), getters(phase.columns()));
    return (row, counters) -> {
      try (BufferedReader reader = segment ? segment(file, rows[row]) : whole(file)) {
        counters.executed();
        counters.take(
            lines(reader, columns, !segment || ((Number) rows[row][0]).longValue() == 0), loop);
      }
    };
  }

  /** Malformed UTF-8 is an error here, as it must be: newBufferedReader reports it. */
  private static BufferedReader whole(Path file) throws IOException {
    return Files.newBufferedReader(file, StandardCharsets.UTF_8);
  }

  private static BufferedReader segment(Path file, Object[] bounds) throws IOException {
    return DelimitedSegment.open(
        file, ((Number) bounds[0]).longValue(), ((Number) bounds[1]).longValue());
  }

  private DelimitedRow lines(BufferedReader reader, int columns, boolean start) {
    return dialect.own()
        ? new DelimitedRow(reader, dialect.delimiter(), columns)
        : new DelimitedRecord(reader, dialect, columns, start);
  }

  private Operation aggregate(Phase phase, Path file) {
    List<Column> result = phase.columns();
    List<Column> table = phase.tableColumns();
    DelimitedAggregate only = new DelimitedAggregate(result, table);
    RowLoop<DelimitedAggregate> loop =
        RowLoops.of(DelimitedAggregate.class, result, getters(result));
    return (row, counters) -> {
      try (BufferedReader reader = whole(file)) {
        only.over(lines(reader, table.size(), true));
        counters.executed();
        counters.take(only, loop);
      }
    };
  }

  @Override
  public List<Getter> getters(List<Column> columns) {
    return columns.stream().map(DelimitedFile::getter).toList();
  }

  private static Getter getter(Column column) {
    return switch (column.type()) {
      case INTEGER ->
          column.bits() > 64
              ? text("getDecimal", java.math.BigDecimal.class)
              : column.bits() > 32 ? text("getLong", long.class) : text("getInt", int.class);
      case DECIMAL -> text("getDecimal", java.math.BigDecimal.class);
      case FLOAT32 -> text("getFloat", float.class);
      case FLOAT64 -> text("getDouble", double.class);
      case BOOLEAN -> text("getBoolean", boolean.class);
      case CHAR, VARCHAR, TEXT, JSON -> Getter.typed("getString", String.class);
      case BINARY -> text("getBytes", byte[].class);
      case DATE -> text("getDate", java.time.LocalDate.class);
      case TIME -> text("getTime", java.time.LocalTime.class);
      case TIMESTAMP -> text("getTimestamp", java.time.LocalDateTime.class);
      case TIMESTAMPTZ -> text("getInstant", java.time.OffsetDateTime.class);
      case UUID -> text("getUuid", java.util.UUID.class);
      case INTERVAL -> text("getInterval", rowpath.Interval.class);
      case ARRAY -> text("getArray", Object[].class);
      case BITS, TIMETZ, STRUCT, MAP, ROWS, ANY, OPAQUE -> Getter.typed("getObject", Object.class);
    };
  }

  private static Getter text(String method, Class<?> returns) {
    return new Getter(null, method, null, returns, true);
  }

  @Override
  public void facts(Facts facts) throws IOException {
    facts.reply().put("driver_version", "java.io.BufferedReader " + Runtime.version());
    facts.settings().put("delimiter", String.valueOf(dialect.delimiter()));
  }
}
