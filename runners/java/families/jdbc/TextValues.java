package rowpath.jdbc;

import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.UUID;
import rowpath.Column;
import rowpath.Getter;
import rowpath.Iso;

/**
 * Natural values from columns that hold them as text: the conversion that a program must do itself.
 */
public final class TextValues {
  private TextValues() {}

  /** The getter of a column that holds values of its type as text. */
  public static Getter getter(Column column) {
    return Getter.byType(TextValues.class, column, true);
  }

  public static BigDecimal decimal(ResultSet rows, int column) throws SQLException {
    String text = rows.getString(column);
    return text == null ? null : new BigDecimal(text);
  }

  public static LocalDate date(ResultSet rows, int column) throws SQLException {
    String text = rows.getString(column);
    return text == null ? null : Iso.date(text);
  }

  public static LocalTime time(ResultSet rows, int column) throws SQLException {
    String text = rows.getString(column);
    return text == null ? null : Iso.time(text);
  }

  public static LocalDateTime timestamp(ResultSet rows, int column) throws SQLException {
    String text = rows.getString(column);
    return text == null ? null : Iso.timestamp(text);
  }

  public static OffsetDateTime timestamptz(ResultSet rows, int column) throws SQLException {
    String text = rows.getString(column);
    return text == null ? null : Iso.instant(text);
  }

  public static UUID uuid(ResultSet rows, int column) throws SQLException {
    String text = rows.getString(column);
    return text == null ? null : UUID.fromString(text);
  }
}
