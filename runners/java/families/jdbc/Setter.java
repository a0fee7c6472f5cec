package rowpath.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Binds one natural value, never null. */
@FunctionalInterface
public interface Setter {
  void set(PreparedStatement statement, int index, Object value) throws SQLException;
}
