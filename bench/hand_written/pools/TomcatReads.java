import org.apache.tomcat.jdbc.pool.DataSource;
import org.apache.tomcat.jdbc.pool.PoolProperties;

/** Tomcat's pool in a program of its own, as its documentation shows. */
public final class TomcatReads {
  private TomcatReads() {}

  public static void main(String[] arguments) throws Exception {
    Conversation conversation = new Conversation();
    PoolProperties properties = new PoolProperties();
    properties.setUrl(conversation.get("url"));
    properties.setDriverClassName("org.postgresql.Driver");
    properties.setUsername(conversation.get("user"));
    properties.setPassword(conversation.get("password"));
    properties.setJmxEnabled(false);
    properties.setTestOnBorrow(false);
    properties.setMaxActive(1);
    properties.setInitialSize(1);
    properties.setMinIdle(1);
    properties.setMaxIdle(1);
    properties.setMaxWait(Reads.PATIENCE_MS);
    DataSource pool = new DataSource(properties);
    Reads.serve(conversation, pool);
    pool.close(true);
  }
}
