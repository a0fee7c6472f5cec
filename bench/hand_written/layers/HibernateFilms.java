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
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;
import org.hibernate.cfg.JdbcSettings;

/**
 * Hibernate, as its introduction begins: entities, a session in a transaction for each operation,
 * associations that load when they are met. The search is an expert's: a projection of a
 * StatelessSession in autocommit.
 */
public final class HibernateFilms {
  @Entity(name = "Person")
  @Table(name = "people")
  public static class Person {
    @Id Integer id;
    String name;

    Integer getId() {
      return id;
    }

    String getName() {
      return name;
    }
  }

  @Entity(name = "User")
  @Table(name = "users")
  public static class User {
    @Id Integer id;
    String name;

    Integer getId() {
      return id;
    }

    String getName() {
      return name;
    }
  }

  @Entity(name = "Actor")
  @Table(name = "actors")
  public static class Actor {
    @Id Integer id;
    String role;
    int position;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "film_id")
    Film film;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "person_id")
    Person person;
  }

  @Entity(name = "Review")
  @Table(name = "reviews")
  public static class Review {
    @Id Integer id;
    int stars;
    String body;
    LocalDateTime written;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "film_id")
    Film film;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "user_id")
    User author;
  }

  @Entity(name = "Film")
  @Table(name = "films")
  public static class Film {
    @Id Integer id;
    String title;
    LocalDate released;
    BigDecimal budget;

    @ManyToMany
    @JoinTable(
        name = "directors",
        joinColumns = @JoinColumn(name = "film_id"),
        inverseJoinColumns = @JoinColumn(name = "person_id"))
    @OrderColumn(name = "position")
    List<Person> directors;

    @OneToMany(mappedBy = "film")
    @OrderBy("position")
    List<Actor> cast;

    @OneToMany(mappedBy = "film")
    @OrderBy("written desc, id desc")
    List<Review> reviews;
  }

  private static SessionFactory sessions;

  private HibernateFilms() {}

  private static long film(Integer key) {
    return sessions.fromTransaction(session -> read(session.find(Film.class, key)));
  }

  private static long read(Film film) {
    List<Object> values = new ArrayList<>();
    for (Person person : film.directors) {
      values.add(new Object[] {person.getId(), person.getName()});
    }
    for (Actor part : film.cast) {
      values.add(new Object[] {part.role, part.person.getId(), part.person.getName()});
    }
    for (Review each : film.reviews) {
      User author = each.author;
      values.add(
          new Object[] {
            each.id, each.stars, each.body, each.written, author.getId(), author.getName()
          });
    }
    return Films.read(film.id, film.title, film.released, film.budget, values);
  }

  private static long search(String title) {
    try (StatelessSession session = sessions.openStatelessSession()) {
      return Films.readTitles(
          session
              .createSelectionQuery(
                  "select f.id, f.title, f.released from Film f"
                      + " where f.title like :pattern and f.title >= :title order by f.title",
                  Films.Title.class)
              .setParameter("pattern", Films.pattern(title))
              .setParameter("title", title)
              .setMaxResults(20)
              .list());
    }
  }

  public static void main(String[] arguments) throws Exception {
    Logger.getLogger("").setLevel(Level.OFF);
    Conversation conversation = new Conversation();
    boolean tuned = conversation.get("operation").equals("search");
    Configuration configuration = new Configuration();
    for (Class<?> entity :
        List.of(Person.class, User.class, Actor.class, Review.class, Film.class)) {
      configuration.addAnnotatedClass(entity);
    }
    configuration
        .setProperty(JdbcSettings.JAKARTA_JDBC_URL, conversation.get("url"))
        .setProperty(JdbcSettings.JAKARTA_JDBC_USER, conversation.get("user"))
        .setProperty(JdbcSettings.JAKARTA_JDBC_PASSWORD, conversation.get("password"))
        .setProperty(JdbcSettings.POOL_SIZE, "1")
        .setProperty(JdbcSettings.AUTOCOMMIT, String.valueOf(tuned));
    sessions = configuration.buildSessionFactory();
    conversation.serve(HibernateFilms::film, HibernateFilms::search);
  }
}
