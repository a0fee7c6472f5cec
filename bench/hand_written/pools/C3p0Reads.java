import com.mchange.v2.c3p0.ComboPooledDataSource;

/** c3p0, as its quickstart begins. */
public final class C3p0Reads {
  private C3p0Reads() {}

  public static void main(String[] arguments) throws Exception {
    Conversation conversation = new Conversation();
    try (ComboPooledDataSource pool = new ComboPooledDataSource()) {
      pool.setJdbcUrl(conversation.get("url"));
      pool.setUser(conversation.get("user"));
      pool.setPassword(conversation.get("password"));
      pool.setTestConnectionOnCheckout(false);
      pool.setInitialPoolSize(1);
      pool.setMinPoolSize(1);
      pool.setMaxPoolSize(1);
      pool.setCheckoutTimeout(Reads.PATIENCE_MS);
      Reads.serve(conversation, pool);
    }
  }
}
