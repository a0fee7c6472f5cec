import java.time.Duration;
import org.apache.commons.dbcp2.BasicDataSource;

/** Apache Commons DBCP 2, as its example begins; it checks no connection that it lends. */
public final class Dbcp2Reads {
  private Dbcp2Reads() {}

  public static void main(String[] arguments) throws Exception {
    Conversation conversation = new Conversation();
    try (BasicDataSource pool = new BasicDataSource()) {
      pool.setUrl(conversation.get("url"));
      pool.setUsername(conversation.get("user"));
      pool.setPassword(conversation.get("password"));
      pool.setTestOnBorrow(false);
      pool.setMaxTotal(1);
      pool.setInitialSize(1);
      pool.setMinIdle(1);
      pool.setMaxIdle(1);
      pool.setMaxWait(Duration.ofMillis(Reads.PATIENCE_MS));
      Reads.serve(conversation, pool);
    }
  }
}
