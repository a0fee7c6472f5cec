import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import org.apache.ibatis.annotations.Many;
import org.apache.ibatis.annotations.One;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Result;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.datasource.pooled.PooledDataSource;
import org.apache.ibatis.logging.LogFactory;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.LocalCacheScope;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;

/**
 * MyBatis without XML, as its documentation says: a mapper, nested selects, a session in a
 * transaction for each operation. The search is an expert's: in autocommit, no cache in a session.
 */
public final class MyBatisFilms {
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

  interface Mapper {
    @Select("SELECT id, title, released, budget FROM films WHERE id = #{id}")
    @Result(property = "id", column = "id")
    @Result(property = "directors", column = "id", many = @Many(select = "directors"))
    @Result(property = "cast", column = "id", many = @Many(select = "cast"))
    @Result(property = "reviews", column = "id", many = @Many(select = "reviews"))
    Film film(int id);

    @Select(
        "SELECT p.id, p.name FROM directors d JOIN people p ON p.id = d.person_id"
            + " WHERE d.film_id = #{id} ORDER BY d.position")
    List<Person> directors(int id);

    @Select("SELECT role, person_id FROM actors WHERE film_id = #{id} ORDER BY position")
    @Result(property = "person", column = "person_id", one = @One(select = "person"))
    List<Part> cast(int id);

    @Select(
        "SELECT id, stars, body, written, user_id FROM reviews WHERE film_id = #{id}"
            + " ORDER BY written DESC, id DESC")
    @Result(property = "author", column = "user_id", one = @One(select = "author"))
    List<Review> reviews(int id);

    @Select("SELECT id, name FROM people WHERE id = #{id}")
    Person person(int id);

    @Select("SELECT id, name FROM users WHERE id = #{id}")
    Person author(int id);

    @Select(
        "SELECT id, title, released FROM films WHERE title LIKE #{pattern} AND title >= #{title}"
            + " ORDER BY title LIMIT 20")
    List<Title> search(@Param("pattern") String pattern, @Param("title") String title);
  }

  private static SqlSessionFactory factory;

  private MyBatisFilms() {}

  private static long film(Integer key) {
    try (SqlSession session = factory.openSession()) {
      Film film = session.getMapper(Mapper.class).film(key);
      List<Object> values = new ArrayList<>();
      for (Person person : film.directors) {
        values.add(new Object[] {person.id, person.name});
      }
      for (Part part : film.cast) {
        values.add(new Object[] {part.role, part.person.id, part.person.name});
      }
      for (Review each : film.reviews) {
        Person author = each.author;
        values.add(
            new Object[] {each.id, each.stars, each.body, each.written, author.id, author.name});
      }
      return Films.read(film.id, film.title, film.released, film.budget, values);
    }
  }

  private static long search(String title) {
    try (SqlSession session = factory.openSession(true)) {
      long touch = 0;
      for (Title film : session.getMapper(Mapper.class).search(Films.pattern(title), title)) {
        touch += film.id + film.title.length() + film.released.getDayOfMonth();
      }
      return touch;
    }
  }

  public static void main(String[] arguments) throws Exception {
    Conversation conversation = new Conversation();
    LogFactory.useNoLogging();
    PooledDataSource source =
        new PooledDataSource(
            "org.postgresql.Driver",
            conversation.get("url"),
            conversation.get("user"),
            conversation.get("password"));
    Configuration configuration =
        new Configuration(new Environment("films", new JdbcTransactionFactory(), source));
    configuration.addMapper(Mapper.class);
    if (conversation.get("operation").equals("search")) {
      configuration.setLocalCacheScope(LocalCacheScope.STATEMENT);
    }
    factory = new SqlSessionFactoryBuilder().build(configuration);
    conversation.serve(MyBatisFilms::film, MyBatisFilms::search);
  }
}
