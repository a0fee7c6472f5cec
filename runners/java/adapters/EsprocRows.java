package rowpath.adapters;

import java.math.BigDecimal;
import java.sql.Date;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import rowpath.Iso;
import rowpath.Row;
import rowpath.delimited.DelimitedRow;

/**
 * What SPL's driver hands over, as natural values: its own typed getters know no NULL, and SPL
 * reads neither the NULL nor the escapes of our text files, and takes an empty text for NULL.
 */
public final class EsprocRows implements Row {
  private static final String NULL = "\\N";

  private final ResultSet rows;
  private boolean wasNull;

  EsprocRows(ResultSet rows) {
    this.rows = rows;
  }

  public boolean next() throws SQLException {
    try {
      return rows.next();
    } catch (RuntimeException failed) {
      throw new SQLException(failed);
    }
  }

  /** Whether the value taken last was NULL. */
  public boolean wasNull() {
    return wasNull;
  }

  public int getInt(int column) throws SQLException {
    Object value = value(column);
    return value == null ? 0 : Math.toIntExact(((Number) value).longValue());
  }

  public long getLong(int column) throws SQLException {
    Object value = value(column);
    return value == null ? 0 : ((Number) value).longValue();
  }

  /** A sum of whole numbers is one. */
  public BigDecimal getDecimal(int column) throws SQLException {
    Object value = value(column);
    return value instanceof Integer || value instanceof Long
        ? BigDecimal.valueOf(((Number) value).longValue())
        : (BigDecimal) value;
  }

  public LocalDate getDate(int column) throws SQLException {
    Date value = (Date) value(column);
    return value == null ? null : value.toLocalDate();
  }

  public LocalDateTime getTimestamp(int column) throws SQLException {
    String value = (String) value(column);
    return value == null ? null : Iso.timestamp(value);
  }

  public String getString(int column) throws SQLException {
    Object value = rows.getObject(column);
    if (value == null) {
      return "";
    }
    String text = (String) value;
    if (text.indexOf('\\') < 0) {
      return text;
    }
    return text.equals(NULL) ? null : DelimitedRow.unescaped(text);
  }

  @Override
  public Object getObject(int column) throws SQLException {
    return value(column);
  }

  private Object value(int column) throws SQLException {
    Object value = rows.getObject(column);
    wasNull = value == null || value.equals(NULL);
    return wasNull ? null : value;
  }
}
