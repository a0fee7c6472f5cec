package rowpath.layers;

import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.JoinTable;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderBy;
import jakarta.persistence.OrderColumn;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.sql.Connection;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.engine.jdbc.connections.spi.ConnectionProvider;
import rowpath.films.Films;
import rowpath.jdbc.JdbcLayer;

/**
 * Hibernate: mapped classes, a session for each operation.
 *
 * <p>Shipped: a Session in its transaction, associations are loaded when they are met. Tuned: a
 * StatelessSession in autocommit, a query for each list, which fetches what it refers to; a
 * projection where not all of an entity is wanted.
 */
public final class Hibernate extends JdbcLayer {
  @Entity(name = "Person")
  @Table(name = "people")
  public static class Person {
    @Id private Integer id;
    private String name;

    public Integer getId() {
      return id;
    }

    public String getName() {
      return name;
    }
  }

  @Entity(name = "User")
  @Table(name = "users")
  public static class User {
    @Id private Integer id;
    private String name;

    public Integer getId() {
      return id;
    }

    public String getName() {
      return name;
    }
  }

  @Entity(name = "Actor")
  @Table(name = "actors")
  public static class Actor {
    @Id private Integer id;
    private String role;
    private int position;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "film_id")
    private Film film;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "person_id")
    private Person person;

    public String getRole() {
      return role;
    }

    public Person getPerson() {
      return person;
    }
  }

  @Entity(name = "Review")
  @Table(name = "reviews")
  public static class Review {
    @Id private Integer id;
    private int stars;
    private String body;
    private LocalDateTime written;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "film_id")
    private Film film;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "user_id")
    private User author;

    public Integer getId() {
      return id;
    }

    public int getStars() {
      return stars;
    }

    public String getBody() {
      return body;
    }

    public LocalDateTime getWritten() {
      return written;
    }

    public Film getFilm() {
      return film;
    }

    public User getAuthor() {
      return author;
    }
  }

  @Entity(name = "Film")
  @Table(name = "films")
  public static class Film {
    @Id private Integer id;
    private String title;
    private LocalDate released;
    private BigDecimal budget;

    @ManyToMany
    @JoinTable(
        name = "directors",
        joinColumns = @JoinColumn(name = "film_id"),
        inverseJoinColumns = @JoinColumn(name = "person_id"))
    @OrderColumn(name = "position")
    private List<Person> directors;

    @OneToMany(mappedBy = "film")
    @OrderBy("position")
    private List<Actor> cast;

    @OneToMany(mappedBy = "film")
    @OrderBy("written desc, id desc")
    private List<Review> reviews;

    public Integer getId() {
      return id;
    }

    public String getTitle() {
      return title;
    }

    public LocalDate getReleased() {
      return released;
    }

    public BigDecimal getBudget() {
      return budget;
    }

    public List<Person> getDirectors() {
      return directors;
    }

    public List<Actor> getCast() {
      return cast;
    }

    public List<Review> getReviews() {
      return reviews;
    }
  }

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

  private SessionFactory sessions;

  @Override
  protected void open(Connection connection) {
    Configuration configuration = new Configuration();
    configuration.getProperties().put(JdbcSettings.CONNECTION_PROVIDER, new One(connection));
    for (Class<?> entity :
        List.of(Person.class, User.class, Actor.class, Review.class, Film.class)) {
      configuration.addAnnotatedClass(entity);
    }
    sessions = configuration.buildSessionFactory();
  }

  /** Hands out the one connection, and keeps it open. */
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
      case "search" -> new Objects<>(Film.class, inTransaction(Hibernate::search));
      case "search tuned" -> new Objects<>(Films.Title.class, inAutocommit(Hibernate::tunedSearch));
      default -> null;
    };
  }

  /** An operation in a session. */
  private interface InSession<S, T> {
    void run(S session, Object parameter, Taker<T> taker) throws Exception;
  }

  private <T> Delivery<T> inTransaction(InSession<Session, T> operation) {
    return (parameters, taker) ->
        sessions.inTransaction(
            session -> {
              try {
                operation.run(session, parameters[0], taker);
              } catch (RuntimeException failed) {
                throw failed;
              } catch (Exception failed) {
                throw new IllegalStateException(failed);
              }
            });
  }

  private <T> Delivery<T> inAutocommit(InSession<StatelessSession, T> operation) {
    return (parameters, taker) -> {
      try (StatelessSession session = sessions.openStatelessSession()) {
        operation.run(session, parameters[0], taker);
      }
    };
  }

  private static void film(Session session, Object key, Taker<Film> taker) throws Exception {
    taker.take(session.find(Film.class, key));
  }

  private static void tunedFilm(StatelessSession session, Object key, Taker<WholeFilm> taker)
      throws Exception {
    Film film = session.get(Film.class, key);
    taker.take(
        new WholeFilm(
            film.id,
            film.title,
            film.released,
            film.budget,
            session.createSelectionQuery(DIRECTORS, Person.class).setParameter("id", key).list(),
            session.createSelectionQuery(CAST, Actor.class).setParameter("id", key).list(),
            session.createSelectionQuery(REVIEWS, Review.class).setParameter("id", key).list()));
  }

  private static void user(Session session, Object key, Taker<UserWithReviews> taker)
      throws Exception {
    Totals totals =
        session
            .createSelectionQuery(TOTALS, Totals.class)
            .setParameter("id", key)
            .getSingleResult();
    List<Review> latest =
        session
            .createSelectionQuery(OPINIONS, Review.class)
            .setParameter("id", key)
            .setMaxResults(Films.LATEST)
            .list();
    taker.take(new UserWithReviews(totals, latest));
  }

  private static void tunedUser(StatelessSession session, Object key, Taker<UserWithReviews> taker)
      throws Exception {
    Totals totals =
        session
            .createSelectionQuery(TOTALS, Totals.class)
            .setParameter("id", key)
            .getSingleResult();
    List<Review> latest =
        session
            .createSelectionQuery(OPINIONS_WITH_FILMS, Review.class)
            .setParameter("id", key)
            .setMaxResults(Films.LATEST)
            .list();
    taker.take(new UserWithReviews(totals, latest));
  }

  private static void search(Session session, Object title, Taker<Film> taker) throws Exception {
    List<Film> found =
        session
            .createSelectionQuery(SEARCH, Film.class)
            .setParameter("pattern", Films.pattern(title))
            .setParameter("title", title)
            .setMaxResults(Films.PAGE)
            .list();
    for (Film film : found) {
      taker.take(film);
    }
  }

  private static void tunedSearch(StatelessSession session, Object title, Taker<Films.Title> taker)
      throws Exception {
    List<Films.Title> found =
        session
            .createSelectionQuery("select f.id, f.title, f.released " + SEARCH, Films.Title.class)
            .setParameter("pattern", Films.pattern(title))
            .setParameter("title", title)
            .setMaxResults(Films.PAGE)
            .list();
    for (Films.Title one : found) {
      taker.take(one);
    }
  }

  @Override
  public void close() throws Exception {
    sessions.close();
    super.close();
  }
}
