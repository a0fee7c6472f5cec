package rowpath.adapters;

import com.ibm.as400.access.AS400File;
import com.ibm.as400.access.KeyedFile;
import com.ibm.as400.access.Record;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import rowpath.Iso;
import rowpath.Row;

/** The records of a file as rows: that of a key, or all of them one after the other. */
public final class Jt400Row implements Row {
  private final AS400File file;
  private final int[] fields; // of the row's columns
  private Object[] key; // null: all records
  private Record record;
  private boolean begun;
  private boolean wasNull;

  Jt400Row(AS400File file, int[] fields) {
    this.file = file;
    this.fields = fields;
  }

  void begin(Object[] key) {
    this.key = key;
    begun = false;
  }

  /** Goes to the next record. */
  public boolean next() throws Exception {
    if (key != null) {
      record = begun ? null : ((KeyedFile) file).read(key);
    } else {
      record = begun ? file.readNext() : file.readFirst();
    }
    begun = true;
    return record != null;
  }

  /** Whether the value taken last was NULL. */
  public boolean wasNull() {
    return wasNull;
  }

  @Override
  public Object getObject(int column) throws Exception {
    Object value = record.getField(fields[column - 1]);
    wasNull = value == null;
    return value;
  }

  public int getInt(int column) throws Exception {
    Number value = (Number) getObject(column);
    return value == null ? 0 : value.intValue();
  }

  public long getLong(int column) throws Exception {
    Number value = (Number) getObject(column);
    return value == null ? 0 : value.longValue();
  }

  public float getFloat(int column) throws Exception {
    Number value = (Number) getObject(column);
    return value == null ? 0 : value.floatValue();
  }

  public double getDouble(int column) throws Exception {
    Number value = (Number) getObject(column);
    return value == null ? 0 : value.doubleValue();
  }

  public boolean getBoolean(int column) throws Exception {
    return getInt(column) != 0;
  }

  public BigDecimal getBigDecimal(int column) throws Exception {
    return (BigDecimal) getObject(column);
  }

  public String getString(int column) throws Exception {
    return (String) getObject(column);
  }

  public byte[] getBytes(int column) throws Exception {
    return (byte[]) getObject(column);
  }

  public LocalDate getDate(int column) throws Exception {
    String text = getString(column);
    return text == null ? null : Iso.date(text);
  }

  public LocalTime getTime(int column) throws Exception {
    String text = getString(column);
    return text == null ? null : time(text, 0, 0);
  }

  public LocalDateTime getTimestamp(int column) throws Exception {
    String text = getString(column);
    return text == null
        ? null
        : LocalDateTime.of(Iso.date(text.substring(0, 10)), time(text, 11, digits(text, 20, 6)));
  }

  /** 12.34.56, as an i keeps it; a timestamp is 2000-11-07-12.34.56.789000. */
  private static LocalTime time(String text, int at, int microseconds) {
    return LocalTime.of(
        digits(text, at, 2), digits(text, at + 3, 2), digits(text, at + 6, 2), microseconds * 1000);
  }

  private static int digits(String text, int at, int count) {
    return Integer.parseInt(text, at, at + count, 10);
  }
}
