package rowpath.jdbc;

import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import rowpath.Column;
import rowpath.Getter;

/** Arrays as JDBC hands them over. */
public final class ArrayValues {
  private ArrayValues() {}

  /** The getter of array columns. */
  public static Getter getter() {
    return Getter.function(ArrayValues.class, "array", Object.class, false);
  }

  /** An array of objects or of numbers. */
  public static Object array(ResultSet rows, int column) throws SQLException {
    Array value = rows.getArray(column);
    return value == null ? null : value.getArray();
  }

  /** The setter of arrays of integers, by their width. */
  public static Setter setter(Column column) {
    String element = column.bits() > 32 ? "BIGINT" : "INTEGER";
    return (statement, index, value) ->
        statement.setArray(
            index, statement.getConnection().createArrayOf(element, (Object[]) value));
  }
}
