package rowpath;

/** The row of a source that is no {@link java.sql.ResultSet}. */
public interface Row {
  /** The value of a column, counted from 1, in whatever form the source has it. */
  Object getObject(int column) throws Exception;
}
