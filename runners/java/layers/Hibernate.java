package rowpath.layers;

import java.math.BigDecimal;
import java.sql.Connection;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.SharedSessionContract;
import org.hibernate.StatelessSession;
import org.hibernate.Transaction;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.cfg.TransactionSettings;
import org.hibernate.engine.jdbc.connections.spi.ConnectionProvider;
import org.hibernate.query.SelectionQuery;
import rowpath.films.Films;
import rowpath.jdbc.JdbcLayer;
import rowpath.layers.HibernateFilms.Actor;
import rowpath.layers.HibernateFilms.Film;
import rowpath.layers.HibernateFilms.Person;
import rowpath.layers.HibernateFilms.Review;

/**
 * Hibernate: mapped classes, a session for each operation.
 *
 * <p>Shipped: a Session in its transaction, associations are loaded when they are met, what was
 * changed is found when it commits. Tuned: a StatelessSession, in autocommit where one statement
 * does, a query for each list, which fetches what it refers to; a projection where not all of an
 * entity is wanted.
 */
public final class Hibernate extends JdbcLayer {
  /** What the tuned program has of a film. */
  public record WholeFilm(
      Integer id,
      String title,
      LocalDate released,
      BigDecimal budget,
      List<Person> directors,
      List<Actor> cast,
      List<Review> reviews) {}

  public record Totals(Integer id, String name, Long reviews, Long stars) {}

  public record UserWithReviews(
      Integer id, String name, Long reviews, Long stars, List<Review> latest) {
    UserWithReviews(Totals totals, List<Review> latest) {
      this(totals.id(), totals.name(), totals.reviews(), totals.stars(), latest);
    }
  }

  private static final String DIRECTORS =
      "select p from Film f join f.directors p where f.id = :id order by index(p)";
  private static final String CAST =
      "from Actor a join fetch a.person where a.film.id = :id order by a.position";
  private static final String REVIEWS =
      "from Review r join fetch r.author where r.film.id = :id order by r.written desc, r.id desc";
  private static final String TOTALS =
      "select u.id, u.name, count(r), coalesce(sum(r.stars), 0)"
          + " from User u left join Review r on r.author = u where u.id = :id"
          + " group by u.id, u.name";
  private static final String OPINIONS =
      "from Review r where r.author.id = :id order by r.written desc, r.id desc";
  private static final String OPINIONS_WITH_FILMS =
      "from Review r join fetch r.film where r.author.id = :id order by r.written desc, r.id desc";
  private static final String SEARCH =
      "from Film f where f.title like :pattern and f.title >= :title order by f.title";

  private static final String TITLES = "select f.id, f.title, f.released ";
  private static final String PAGE = "from Film f where f.title like :pattern order by f.title";

  private static SessionFactory sessions; // of all clients of the process
  private static int clients;

  private Connection connection;

  @Override
  protected void open(Connection connection) {
    this.connection = connection;
    join(connection);
  }

  private static synchronized void join(Connection connection) {
    if (sessions == null) {
      Configuration configuration = new Configuration();
      configuration.getProperties().put(JdbcSettings.CONNECTION_PROVIDER, new One(connection));
      configuration.getProperties().put(TransactionSettings.ALLOW_UPDATE_OUTSIDE_TRANSACTION, true);
      HibernateFilms.ENTITIES.forEach(configuration::addAnnotatedClass);
      HibernateWrites.ENTITIES.forEach(configuration::addAnnotatedClass);
      sessions = configuration.buildSessionFactory();
    }
    clients++;
  }

  private static synchronized void leave() {
    if (--clients == 0) {
      sessions.close();
      sessions = null;
    }
  }

  /** What the factory reads the server's version from; each session has its client's own. */
  private static final class One implements ConnectionProvider {
    private static final long serialVersionUID = 1L;
    private final transient Connection connection;

    One(Connection connection) {
      this.connection = connection;
    }

    @Override
    public Connection getConnection() {
      return connection;
    }

    @Override
    public void closeConnection(Connection connection) {
      // a pool would keep it too
    }

    @Override
    public boolean supportsAggressiveRelease() {
      return false;
    }

    @Override
    public boolean isUnwrappableAs(Class<?> type) {
      return false;
    }

    @Override
    public <T> T unwrap(Class<T> type) {
      throw new UnsupportedOperationException(type.getName());
    }
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("hibernate-core", version(SessionFactory.class));
  }

  @Override
  protected Objects<?> operation(String name) {
    return switch (name + (tuned ? " tuned" : "")) {
      case "film" -> new Objects<>(Film.class, inTransaction(Hibernate::film));
      case "film tuned" -> new Objects<>(WholeFilm.class, inAutocommit(Hibernate::tunedFilm));
      case "user" -> new Objects<>(UserWithReviews.class, inTransaction(Hibernate::user));
      case "user tuned" -> new Objects<>(UserWithReviews.class, inAutocommit(Hibernate::tunedUser));
      case "one" -> new Objects<>(Film.class, inTransaction(Hibernate::one));
      case "one tuned" -> new Objects<>(Film.class, inAutocommit(Hibernate::tunedOne));
      case "search" -> new Objects<>(Film.class, inTransaction(Hibernate::search));
      case "search tuned" -> new Objects<>(Films.Title.class, inAutocommit(Hibernate::tunedSearch));
      case "page" -> new Objects<>(Film.class, inTransaction(Hibernate::page));
      case "page tuned" -> new Objects<>(Films.Title.class, inAutocommit(Hibernate::tunedPage));
      case "add" -> writes(inTransaction(HibernateWrites::add));
      case "add tuned" -> writes(inAutocommit(HibernateWrites::tunedAdd));
      case "change" -> writes(inTransaction(HibernateWrites::change));
      case "change tuned" -> writes(inAutocommit(HibernateWrites::tunedChange));
      case "read_modify_write" -> writes(inTransaction(HibernateWrites::readModifyWrite));
      case "read_modify_write tuned" -> writes(inAutocommit(HibernateWrites::tunedReadModifyWrite));
      default -> null;
    };
  }

  /** An operation in a session. */
  interface InSession<S, T> {
    void run(S session, Object[] row, Taker<T> taker) throws Exception;
  }

  private static Objects<Void> writes(Delivery<Void> delivery) {
    return new Objects<>(Void.class, delivery);
  }

  private <T> Delivery<T> inTransaction(InSession<Session, T> operation) {
    return (row, taker) -> {
      try (Session session = sessions.withOptions().connection(connection).openSession()) {
        commit(session, () -> operation.run(session, row, taker));
      }
    };
  }

  private <T> Delivery<T> inAutocommit(InSession<StatelessSession, T> operation) {
    return (row, taker) -> {
      try (StatelessSession session = sessions.openStatelessSession(connection)) {
        operation.run(session, row, taker);
      }
    };
  }

  /** What is done in a transaction. */
  interface Statements {
    void run() throws Exception;
  }

  /** Commits it, or rolls it back when it fails. */
  static void commit(SharedSessionContract session, Statements work) throws Exception {
    Transaction transaction = session.beginTransaction();
    try {
      work.run();
      transaction.commit();
    } catch (Exception failed) {
      if (transaction.isActive()) {
        transaction.rollback();
      }
      throw failed;
    }
  }

  private static void one(Session session, Object[] row, Taker<Film> taker) throws Exception {
    taker.take(session.find(Film.class, row[0]));
  }

  private static void tunedOne(StatelessSession session, Object[] row, Taker<Film> taker)
      throws Exception {
    taker.take(session.get(Film.class, row[0]));
  }

  private static void film(Session session, Object[] row, Taker<Film> taker) throws Exception {
    taker.take(session.find(Film.class, row[0]));
  }

  private static void tunedFilm(StatelessSession session, Object[] row, Taker<WholeFilm> taker)
      throws Exception {
    Object key = row[0];
    Film film = session.get(Film.class, key);
    taker.take(
        new WholeFilm(
            film.getId(),
            film.getTitle(),
            film.getReleased(),
            film.getBudget(),
            session.createSelectionQuery(DIRECTORS, Person.class).setParameter("id", key).list(),
            session.createSelectionQuery(CAST, Actor.class).setParameter("id", key).list(),
            session.createSelectionQuery(REVIEWS, Review.class).setParameter("id", key).list()));
  }

  private static void user(Session session, Object[] row, Taker<UserWithReviews> taker)
      throws Exception {
    Totals totals =
        session
            .createSelectionQuery(TOTALS, Totals.class)
            .setParameter("id", row[0])
            .getSingleResult();
    List<Review> latest =
        session
            .createSelectionQuery(OPINIONS, Review.class)
            .setParameter("id", row[0])
            .setMaxResults(Films.LATEST)
            .list();
    taker.take(new UserWithReviews(totals, latest));
  }

  private static void tunedUser(
      StatelessSession session, Object[] row, Taker<UserWithReviews> taker) throws Exception {
    Totals totals =
        session
            .createSelectionQuery(TOTALS, Totals.class)
            .setParameter("id", row[0])
            .getSingleResult();
    List<Review> latest =
        session
            .createSelectionQuery(OPINIONS_WITH_FILMS, Review.class)
            .setParameter("id", row[0])
            .setMaxResults(Films.LATEST)
            .list();
    taker.take(new UserWithReviews(totals, latest));
  }

  private static void search(Session session, Object[] row, Taker<Film> taker) throws Exception {
    takeAll(searched(session.createSelectionQuery(SEARCH, Film.class), row), taker);
  }

  private static void tunedSearch(StatelessSession session, Object[] row, Taker<Films.Title> taker)
      throws Exception {
    takeAll(searched(session.createSelectionQuery(TITLES + SEARCH, Films.Title.class), row), taker);
  }

  private static <T> SelectionQuery<T> searched(SelectionQuery<T> query, Object[] row) {
    return query
        .setParameter("pattern", Films.pattern(row[0]))
        .setParameter("title", row[0])
        .setMaxResults(Films.PAGE);
  }

  private static void page(Session session, Object[] row, Taker<Film> taker) throws Exception {
    takeAll(paged(session.createSelectionQuery(PAGE, Film.class), row), taker);
  }

  private static void tunedPage(StatelessSession session, Object[] row, Taker<Films.Title> taker)
      throws Exception {
    takeAll(paged(session.createSelectionQuery(TITLES + PAGE, Films.Title.class), row), taker);
  }

  private static <T> SelectionQuery<T> paged(SelectionQuery<T> query, Object[] row) {
    return query
        .setParameter("pattern", row[0] + "%")
        .setFirstResult((Integer) row[1])
        .setMaxResults(Films.PAGE);
  }

  private static <T> void takeAll(SelectionQuery<T> query, Taker<T> taker) throws Exception {
    for (T object : query.list()) {
      taker.take(object);
    }
  }

  @Override
  public void close() throws Exception {
    leave();
    super.close();
  }
}
