package rowpath.layers;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.LockModeType;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.hibernate.LockMode;
import org.hibernate.Session;
import org.hibernate.StatelessSession;
import org.hibernate.query.MutationQuery;
import rowpath.Layer.Taker;
import rowpath.films.Films;
import rowpath.films.Graph;

/**
 * Hibernate's operations that write.
 *
 * <p>Shipped: a graph is persisted by cascade, an INSERT of each row, because the database numbers
 * them; changes are found when the transaction commits. Tuned: INSERT of many rows in SQL, UPDATE
 * by a query.
 */
final class HibernateWrites {
  static final List<Class<?>> ENTITIES =
      List.of(AddedFilm.class, AddedDirector.class, AddedActor.class, ChangedFilm.class);

  private HibernateWrites() {}

  @Entity(name = "AddedFilm")
  @Table(name = "films_added")
  static class AddedFilm {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Integer id;

    private String title;
    private LocalDate released;
    private BigDecimal budget;

    @OneToMany(mappedBy = "film", cascade = CascadeType.PERSIST)
    private List<AddedDirector> directors = new ArrayList<>();

    @OneToMany(mappedBy = "film", cascade = CascadeType.PERSIST)
    private List<AddedActor> cast = new ArrayList<>();

    AddedFilm() {}

    AddedFilm(Object[] row) {
      title = (String) row[0];
      released = (LocalDate) row[1];
      budget = (BigDecimal) row[2];
    }
  }

  @Entity(name = "AddedDirector")
  @Table(name = "directors_added")
  static class AddedDirector {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Integer id;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "film_id")
    private AddedFilm film;

    @Column(name = "person_id")
    private int person;

    private int position;

    AddedDirector() {}

    AddedDirector(AddedFilm film, Graph.DirectorRow one) {
      this.film = film;
      person = one.person();
      position = one.position();
    }
  }

  @Entity(name = "AddedActor")
  @Table(name = "actors_added")
  static class AddedActor {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Integer id;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "film_id")
    private AddedFilm film;

    @Column(name = "person_id")
    private int person;

    private int position;
    private String role;

    AddedActor() {}

    AddedActor(AddedFilm film, Graph.ActorRow one) {
      this.film = film;
      person = one.person();
      position = one.position();
      role = one.role();
    }
  }

  @Entity(name = "ChangedFilm")
  @Table(name = "films_changed")
  static class ChangedFilm {
    @Id private Integer id;
    private String title;
    private LocalDate released;
    private BigDecimal budget;
  }

  private static final String CHANGE =
      "update ChangedFilm set title = :title, budget = :budget where id = :id";
  private static final String SET_BUDGET = "update ChangedFilm set budget = :budget where id = :id";

  static void add(Session session, Object[] row, Taker<Void> none) {
    AddedFilm film = new AddedFilm(row);
    for (Graph.DirectorRow one : Graph.directors(row[3])) {
      film.directors.add(new AddedDirector(film, one));
    }
    for (Graph.ActorRow one : Graph.cast(row[3])) {
      film.cast.add(new AddedActor(film, one));
    }
    session.persist(film);
  }

  static void tunedAdd(StatelessSession session, Object[] row, Taker<Void> none) throws Exception {
    Hibernate.commit(
        session,
        () -> {
          AddedFilm film = new AddedFilm(row);
          session.insert(film);
          execute(session, Films.ADD_DIRECTORS, Graph.directorValues(film.id, row[3]));
          execute(session, Films.ADD_ACTORS, Graph.actorValues(film.id, row[3]));
        });
  }

  /** An INSERT in SQL: no entity that the database numbers is inserted with others. */
  private static void execute(StatelessSession session, String sql, Object[] values) {
    MutationQuery query = session.createNativeMutationQuery(sql);
    for (int at = 0; at < values.length; at++) {
      if (values[at] == null) {
        query.setParameter(at + 1, null, String.class);
      } else {
        query.setParameter(at + 1, values[at]);
      }
    }
    query.executeUpdate();
  }

  static void change(Session session, Object[] row, Taker<Void> none) {
    ChangedFilm film = session.find(ChangedFilm.class, row[0]);
    film.title = (String) row[1];
    film.budget = (BigDecimal) row[2];
  }

  static void tunedChange(StatelessSession session, Object[] row, Taker<Void> none) {
    session
        .createMutationQuery(CHANGE)
        .setParameter("title", row[1])
        .setParameter("budget", row[2])
        .setParameter("id", row[0])
        .executeUpdate();
  }

  static void readModifyWrite(Session session, Object[] row, Taker<Void> none) {
    ChangedFilm film = session.find(ChangedFilm.class, row[0], LockModeType.PESSIMISTIC_WRITE);
    film.budget = Films.raised(film.budget, row[1]);
  }

  static void tunedReadModifyWrite(StatelessSession session, Object[] row, Taker<Void> none)
      throws Exception {
    Hibernate.commit(
        session,
        () -> {
          ChangedFilm film = session.get(ChangedFilm.class, row[0], LockMode.PESSIMISTIC_WRITE);
          session
              .createMutationQuery(SET_BUDGET)
              .setParameter("budget", Films.raised(film.budget, row[1]))
              .setParameter("id", film.id)
              .executeUpdate();
        });
  }
}
