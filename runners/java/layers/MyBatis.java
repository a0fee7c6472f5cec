package rowpath.layers;

import java.math.BigDecimal;
import java.sql.Connection;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Many;
import org.apache.ibatis.annotations.One;
import org.apache.ibatis.annotations.Options;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Result;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
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
import rowpath.films.Graph;
import rowpath.jdbc.JdbcLayer;

/**
 * MyBatis: mappers by annotations, a session of its own pool for each operation.
 *
 * <p>Shipped: nested selects, an INSERT of each row, in the session's transaction. Tuned: a
 * statement for each list, its columns named by properties, in autocommit where one statement does,
 * no cache within the session.
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

  static final class FilmOnly {
    int id;
    String title;
    LocalDate released;
    BigDecimal budget;

    static FilmOnly of(Object[] row) {
      FilmOnly film = new FilmOnly();
      film.title = (String) row[0];
      film.released = (LocalDate) row[1];
      film.budget = (BigDecimal) row[2];
      return film;
    }
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

    @Select(FILM)
    FilmOnly one(int id);

    @Select(
        "SELECT id, title, released FROM films WHERE title LIKE #{pattern} ORDER BY title LIMIT "
            + Films.PAGE
            + " OFFSET #{skip}")
    List<Title> page(@Param("pattern") String pattern, @Param("skip") int skip);

    @Insert(
        "INSERT INTO films_added (title, released, budget) VALUES (#{title}, #{released},"
            + " #{budget})")
    @Options(useGeneratedKeys = true, keyProperty = "id", keyColumn = "id")
    void addFilm(FilmOnly film);

    @Update("UPDATE films_changed SET title = #{title}, budget = #{budget} WHERE id = #{id}")
    void change(
        @Param("id") int id, @Param("title") String title, @Param("budget") BigDecimal budget);

    @Select("SELECT id, title, released, budget FROM films_changed WHERE id = #{id} FOR UPDATE")
    FilmOnly locked(int id);

    @Update("UPDATE films_changed SET budget = #{budget} WHERE id = #{id}")
    void setBudget(@Param("id") int id, @Param("budget") BigDecimal budget);
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

    @Insert(
        "INSERT INTO directors_added (film_id, person_id, position)"
            + " VALUES (#{film}, #{one.person}, #{one.position})")
    void addDirector(@Param("film") int film, @Param("one") Graph.DirectorRow one);

    @Insert(
        "INSERT INTO actors_added (film_id, person_id, position, role)"
            + " VALUES (#{film}, #{one.person}, #{one.position}, #{one.role})")
    void addActor(@Param("film") int film, @Param("one") Graph.ActorRow one);
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

    @Insert(
        "<script>INSERT INTO directors_added (film_id, person_id, position) VALUES"
            + " <foreach collection='all' item='one' separator=', '>"
            + "(#{film}, #{one.person}, #{one.position})</foreach></script>")
    void addDirectors(@Param("film") int film, @Param("all") List<Graph.DirectorRow> all);

    @Insert(
        "<script>INSERT INTO actors_added (film_id, person_id, position, role) VALUES"
            + " <foreach collection='all' item='one' separator=', '>"
            + "(#{film}, #{one.person}, #{one.position}, #{one.role})</foreach></script>")
    void addActors(@Param("film") int film, @Param("all") List<Graph.ActorRow> all);
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
      case "one" -> new Objects<>(FilmOnly.class, reading(MyBatis::one));
      case "search" -> new Objects<>(Title.class, reading(MyBatis::search));
      case "page" -> new Objects<>(Title.class, reading(MyBatis::page));
      case "add" -> writing(tuned ? this::tunedAdd : this::add);
      case "change" -> writing(this::change);
      case "read_modify_write" -> writing(this::readModifyWrite);
      default -> null;
    };
  }

  private static List<FilmOnly> one(Common mapper, Object[] row) {
    return List.of(mapper.one((int) row[0]));
  }

  private static List<Title> search(Common mapper, Object[] row) {
    return mapper.search(Films.pattern(row[0]), (String) row[0]);
  }

  private static List<Title> page(Common mapper, Object[] row) {
    return mapper.page(row[0] + "%", (int) row[1]);
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

  /** What a mapper's method hands over. */
  private interface Read<T> {
    List<T> of(Common mapper, Object[] row);
  }

  private Class<? extends Common> mapper() {
    return tuned ? Tuned.class : Shipped.class;
  }

  private <T> Delivery<T> reading(Read<T> read) {
    return (row, taker) -> {
      try (SqlSession session = factory.openSession(tuned)) {
        for (T object : read.of(session.getMapper(mapper()), row)) {
          taker.take(object);
        }
      }
    };
  }

  private void add(Object[] row) {
    try (SqlSession session = factory.openSession()) {
      Shipped mapper = session.getMapper(Shipped.class);
      FilmOnly film = FilmOnly.of(row);
      mapper.addFilm(film);
      Graph.directors(row[3]).forEach(one -> mapper.addDirector(film.id, one));
      Graph.cast(row[3]).forEach(one -> mapper.addActor(film.id, one));
      session.commit();
    }
  }

  private void tunedAdd(Object[] row) {
    try (SqlSession session = factory.openSession()) {
      Tuned mapper = session.getMapper(Tuned.class);
      FilmOnly film = FilmOnly.of(row);
      mapper.addFilm(film);
      mapper.addDirectors(film.id, Graph.directors(row[3]));
      mapper.addActors(film.id, Graph.cast(row[3]));
      session.commit();
    }
  }

  private void change(Object[] row) {
    try (SqlSession session = factory.openSession(tuned)) {
      session.getMapper(mapper()).change((int) row[0], (String) row[1], (BigDecimal) row[2]);
      session.commit();
    }
  }

  private void readModifyWrite(Object[] row) {
    try (SqlSession session = factory.openSession()) {
      Common mapper = session.getMapper(mapper());
      FilmOnly film = mapper.locked((int) row[0]);
      mapper.setBudget(film.id, Films.raised(film.budget, row[1]));
      session.commit();
    }
  }

  @Override
  public void close() throws Exception {
    pool.forceCloseAll();
    super.close();
  }
}
