package rowpath.adapters;

import com.ibm.as400.access.AS400;
import java.beans.PropertyVetoException;
import rowpath.Options;

/** An IBM i as jt400 knows it, with its login. */
final class Jt400System {
  private Jt400System() {}

  /** With a CCSID: otherwise the driver asks another server for the one of names. */
  static AS400 of(Options options) {
    AS400 system =
        new AS400(
            options.get("host", "127.0.0.1"),
            options.need("user"),
            options.get("password", "").toCharArray());
    try {
      system.setCcsid(37);
      system.setGuiAvailable(false); // for a password, in a window
    } catch (PropertyVetoException impossible) {
      throw new IllegalStateException(impossible);
    }
    return system;
  }
}
