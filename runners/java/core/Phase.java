package rowpath;

import java.util.List;
import java.util.Map;

/** A phase as {@code prepare} sends it. */
public record Phase(
    String name,
    String kind,
    String sql,
    String table,
    boolean scan,
    List<Column> columns,
    List<Column> parameterColumns,
    boolean transaction,
    boolean stamps,
    int rowsPerOperation,
    String way,
    String access,
    List<Column> tableColumns,
    List<String> keyColumns) {

  static Phase of(Map<?, ?> fields) {
    return new Phase(
        text(fields, "name"),
        text(fields, "kind"),
        text(fields, "sql"),
        text(fields, "table"),
        Boolean.TRUE.equals(fields.get("scan")),
        Column.list(fields.get("columns")),
        Column.list(fields.get("parameter_columns")),
        text(fields, "transaction").equals("transaction"),
        Boolean.TRUE.equals(fields.get("stamps")),
        fields.get("rows_per_operation") instanceof Number rows ? rows.intValue() : 1,
        text(fields, "way"),
        text(fields, "access"),
        Column.list(fields.get("table_columns")),
        fields.get("key_columns") instanceof List<?> names
            ? names.stream().map(String.class::cast).toList()
            : List.of());
  }

  /** How many operations this many parameter rows make before positions wrap; at least one. */
  int operations(int parameters) {
    if (!kind.equals("load")) {
      return Math.max(parameters, 1);
    }
    if (parameters < rowsPerOperation) {
      throw new Failure(
          "internal", "", name + " stores " + rowsPerOperation + " rows, has " + parameters);
    }
    return parameters / rowsPerOperation;
  }

  private static String text(Map<?, ?> fields, String name) {
    return fields.get(name) instanceof String value ? value : "";
  }
}
