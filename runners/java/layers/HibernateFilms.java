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
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;

/** The workload's tables as Hibernate's entities. */
final class HibernateFilms {
  static final List<Class<?>> ENTITIES =
      List.of(Person.class, User.class, Actor.class, Review.class, Film.class);

  private HibernateFilms() {}

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
}
