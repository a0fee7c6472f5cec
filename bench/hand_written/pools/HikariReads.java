import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** HikariCP, as its page begins; it checks no connection after it was idle. */
public final class HikariReads {
  private HikariReads() {}

  public static void main(String[] arguments) throws Exception {
    Conversation conversation = new Conversation();
    System.setProperty("com.zaxxer.hikari.aliveBypassWindowMs", String.valueOf(Long.MAX_VALUE));
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(conversation.get("url"));
    config.setUsername(conversation.get("user"));
    config.setPassword(conversation.get("password"));
    config.setMaximumPoolSize(1);
    config.setConnectionTimeout(Reads.PATIENCE_MS);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      Reads.serve(conversation, pool);
    }
  }
}
