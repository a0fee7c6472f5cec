package rowpath.layers;

import java.math.BigDecimal;
import java.sql.Connection;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import org.apache.ibatis.annotations.Many;
import org.apache.ibatis.annotations.One;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Result;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.datasource.pooled.PooledDataSource;
import org.apache.ibatis.datasource.unpooled.UnpooledDataSource;
import org.apache.ibatis.logging.LogFactory;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.LocalCacheScope;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import rowpath.films.Films;
import rowpath.jdbc.JdbcLayer;

/**
 * MyBatis: mappers by annotations, a session of its own pool for each operation.
 *
 * <p>Shipped: nested selects, in the session's transaction. Tuned: a statement for each list, its
 * columns named by properties, in autocommit, no cache within the session.
 */
public final class MyBatis extends JdbcLayer {
  static final class Person {
    int id;
    String name;
  }

  static final class Part {
    String role;
    Person person;
  }

  static final class Review {
    int id;
    int stars;
    String body;
    LocalDateTime written;
    Person author;
  }

  static final class Film {
    int id;
    String title;
    LocalDate released;
    BigDecimal budget;
    List<Person> directors;
    List<Part> cast;
    List<Review> reviews;
  }

  static final class Title {
    int id;
    String title;
    LocalDate released;
  }

  static final class FilmTitle {
    int id;
    String title;
  }

  static final class Opinion {
    int id;
    int stars;
    LocalDateTime written;
    FilmTitle film;
  }

  static final class User {
    int id;
    String name;
    int reviews;
    int stars;
    List<Opinion> latest;
  }

  /** What both profiles have. */
  interface Common {
    String FILM = "SELECT id, title, released, budget FROM films WHERE id = #{id}";
    String TOTALS =
        "SELECT u.id, u.name, count(r.id) AS reviews, coalesce(sum(r.stars), 0) AS stars"
            + " FROM users u LEFT JOIN reviews r ON r.user_id = u.id"
            + " WHERE u.id = #{id} GROUP BY u.id, u.name";

    @Select(
        "SELECT p.id, p.name FROM directors d JOIN people p ON p.id = d.person_id"
            + " WHERE d.film_id = #{id} ORDER BY d.position")
    List<Person> directors(int id);

    @Select(
        "SELECT id, title, released FROM films WHERE title LIKE #{pattern} AND title >= #{title}"
            + " ORDER BY title LIMIT "
            + Films.PAGE)
    List<Title> search(@Param("pattern") String pattern, @Param("title") String title);
  }

  /** Nested selects. */
  interface Shipped extends Common {
    String SELF = "rowpath.layers.MyBatis$Shipped.";

    @Select(FILM)
    @Result(property = "id", column = "id")
    @Result(property = "directors", column = "id", many = @Many(select = SELF + "directors"))
    @Result(property = "cast", column = "id", many = @Many(select = SELF + "cast"))
    @Result(property = "reviews", column = "id", many = @Many(select = SELF + "reviews"))
    Film film(int id);

    @Select("SELECT role, person_id FROM actors WHERE film_id = #{id} ORDER BY position")
    @Result(property = "person", column = "person_id", one = @One(select = SELF + "person"))
    List<Part> cast(int id);

    @Select(
        "SELECT id, stars, body, written, user_id FROM reviews WHERE film_id = #{id}"
            + " ORDER BY written DESC, id DESC")
    @Result(property = "author", column = "user_id", one = @One(select = SELF + "author"))
    List<Review> reviews(int id);

    @Select("SELECT id, name FROM people WHERE id = #{id}")
    Person person(int id);

    @Select("SELECT id, name FROM users WHERE id = #{id}")
    Person author(int id);

    @Select(TOTALS)
    @Result(property = "id", column = "id")
    @Result(property = "latest", column = "id", many = @Many(select = SELF + "latest"))
    User user(int id);

    @Select(
        "SELECT id, stars, written, film_id FROM reviews WHERE user_id = #{id}"
            + " ORDER BY written DESC, id DESC LIMIT "
            + Films.LATEST)
    @Result(property = "film", column = "film_id", one = @One(select = SELF + "filmTitle"))
    List<Opinion> latest(int id);

    @Select("SELECT id, title FROM films WHERE id = #{id}")
    FilmTitle filmTitle(int id);
  }

  /** Joins. */
  interface Tuned extends Common {
    @Select(FILM)
    Film film(int id);

    @Select(
        "SELECT a.role, p.id AS \"person.id\", p.name AS \"person.name\" FROM actors a"
            + " JOIN people p ON p.id = a.person_id WHERE a.film_id = #{id} ORDER BY a.position")
    List<Part> cast(int id);

    @Select(
        "SELECT r.id, r.stars, r.body, r.written, u.id AS \"author.id\", u.name AS \"author.name\""
            + " FROM reviews r JOIN users u ON u.id = r.user_id WHERE r.film_id = #{id}"
            + " ORDER BY r.written DESC, r.id DESC")
    List<Review> reviews(int id);

    @Select(TOTALS)
    User user(int id);

    @Select(
        "SELECT r.id, r.stars, r.written, f.id AS \"film.id\", f.title AS \"film.title\""
            + " FROM reviews r JOIN films f ON f.id = r.film_id WHERE r.user_id = #{id}"
            + " ORDER BY r.written DESC, r.id DESC LIMIT "
            + Films.LATEST)
    List<Opinion> latest(int id);
  }

  private SqlSessionFactory factory;
  private PooledDataSource pool;

  @Override
  protected void open(Connection connection) {
    LogFactory.useNoLogging();
    pool = new PooledDataSource(new Kept(connection));
    pool.forceCloseAll(); // else it takes what comes back to it for another login's
    Environment environment = new Environment("rowpath", new JdbcTransactionFactory(), pool);
    Configuration configuration = new Configuration(environment);
    configuration.addMapper(Shipped.class);
    configuration.addMapper(Tuned.class);
    if (tuned) {
      configuration.setLocalCacheScope(LocalCacheScope.STATEMENT);
    }
    factory = new SqlSessionFactoryBuilder().build(configuration);
  }

  /** Where the pool has its one connection from. */
  private static final class Kept extends UnpooledDataSource {
    private final Connection connection;

    Kept(Connection connection) {
      this.connection = connection;
    }

    @Override
    public Connection getConnection() {
      return connection;
    }
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("mybatis", version(SqlSession.class));
  }

  @Override
  protected Objects<?> operation(String name) {
    return switch (name) {
      case "film" -> new Objects<>(Film.class, tuned ? this::tunedFilm : this::film);
      case "user" -> new Objects<>(User.class, tuned ? this::tunedUser : this::user);
      case "search" -> new Objects<>(Title.class, this::search);
      default -> null;
    };
  }

  private void film(Object[] row, Taker<Film> taker) throws Exception {
    try (SqlSession session = factory.openSession()) {
      taker.take(session.getMapper(Shipped.class).film((Integer) row[0]));
    }
  }

  private void tunedFilm(Object[] row, Taker<Film> taker) throws Exception {
    int key = (Integer) row[0];
    try (SqlSession session = factory.openSession(true)) {
      Tuned mapper = session.getMapper(Tuned.class);
      Film film = mapper.film(key);
      film.directors = mapper.directors(key);
      film.cast = mapper.cast(key);
      film.reviews = mapper.reviews(key);
      taker.take(film);
    }
  }

  private void user(Object[] row, Taker<User> taker) throws Exception {
    try (SqlSession session = factory.openSession()) {
      taker.take(session.getMapper(Shipped.class).user((Integer) row[0]));
    }
  }

  private void tunedUser(Object[] row, Taker<User> taker) throws Exception {
    int key = (Integer) row[0];
    try (SqlSession session = factory.openSession(true)) {
      Tuned mapper = session.getMapper(Tuned.class);
      User user = mapper.user(key);
      user.latest = mapper.latest(key);
      taker.take(user);
    }
  }

  private void search(Object[] row, Taker<Title> taker) throws Exception {
    try (SqlSession session = factory.openSession(tuned)) {
      Class<? extends Common> type = tuned ? Tuned.class : Shipped.class;
      Common mapper = session.getMapper(type);
      for (Title title : mapper.search(Films.pattern(row[0]), (String) row[0])) {
        taker.take(title);
      }
    }
  }

  @Override
  public void close() throws Exception {
    pool.forceCloseAll();
    super.close();
  }
}
