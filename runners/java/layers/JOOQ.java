package rowpath.layers;

import static org.jooq.Records.mapping;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.multiset;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.param;
import static org.jooq.impl.DSL.row;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.sum;
import static org.jooq.impl.SQLDataType.INTEGER;
import static org.jooq.impl.SQLDataType.LOCALDATE;
import static org.jooq.impl.SQLDataType.LOCALDATETIME;
import static org.jooq.impl.SQLDataType.NUMERIC;
import static org.jooq.impl.SQLDataType.VARCHAR;

import java.math.BigDecimal;
import java.sql.Connection;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jooq.CloseableQuery;
import org.jooq.CloseableResultQuery;
import org.jooq.Constants;
import org.jooq.DSLContext;
import org.jooq.DataType;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Record2;
import org.jooq.Record3;
import org.jooq.Record4;
import org.jooq.Record5;
import org.jooq.ResultQuery;
import org.jooq.SQLDialect;
import org.jooq.Select;
import org.jooq.Table;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import rowpath.films.Films;
import rowpath.films.Films.Film;
import rowpath.films.Films.FilmOnly;
import rowpath.films.Films.FilmTitle;
import rowpath.films.Films.Opinion;
import rowpath.films.Films.Part;
import rowpath.films.Films.Person;
import rowpath.films.Films.Review;
import rowpath.films.Films.Title;
import rowpath.films.Films.User;
import rowpath.jdbc.JdbcLayer;

/**
 * jOOQ: its DSL with tables by name, in autocommit.
 *
 * <p>Shipped: one query, a MULTISET for each list. Tuned: a query for each list, built once, its
 * statement kept open; no listener that logs.
 */
public final class JOOQ extends JdbcLayer {
  private static final Table<Record> PEOPLE = DSL.table(name("people"));
  private static final Field<Integer> PERSON_ID = field("people", "id", INTEGER);
  private static final Field<String> PERSON_NAME = field("people", "name", VARCHAR);

  private static final Table<Record> USERS = DSL.table(name("users"));
  private static final Field<Integer> USER_ID = field("users", "id", INTEGER);
  private static final Field<String> USER_NAME = field("users", "name", VARCHAR);

  private static final Table<Record> FILMS = DSL.table(name("films"));
  private static final Field<Integer> FILM_ID = field("films", "id", INTEGER);
  private static final Field<String> FILM_TITLE = field("films", "title", VARCHAR);
  private static final Field<LocalDate> FILM_RELEASED = field("films", "released", LOCALDATE);
  private static final Field<BigDecimal> FILM_BUDGET = field("films", "budget", NUMERIC(12, 2));

  private static final Table<Record> DIRECTORS = DSL.table(name("directors"));
  private static final Field<Integer> DIRECTOR_FILM = field("directors", "film_id", INTEGER);
  private static final Field<Integer> DIRECTOR_PERSON = field("directors", "person_id", INTEGER);
  private static final Field<Integer> DIRECTOR_POSITION = field("directors", "position", INTEGER);

  private static final Table<Record> ACTORS = DSL.table(name("actors"));
  private static final Field<Integer> ACTOR_FILM = field("actors", "film_id", INTEGER);
  private static final Field<Integer> ACTOR_PERSON = field("actors", "person_id", INTEGER);
  private static final Field<Integer> ACTOR_POSITION = field("actors", "position", INTEGER);
  private static final Field<String> ACTOR_ROLE = field("actors", "role", VARCHAR);

  private static final Table<Record> REVIEWS = DSL.table(name("reviews"));
  private static final Field<Integer> REVIEW_ID = field("reviews", "id", INTEGER);
  private static final Field<Integer> REVIEW_FILM = field("reviews", "film_id", INTEGER);
  private static final Field<Integer> REVIEW_USER = field("reviews", "user_id", INTEGER);
  private static final Field<Integer> REVIEW_STARS = field("reviews", "stars", INTEGER);
  private static final Field<String> REVIEW_BODY = field("reviews", "body", VARCHAR);
  private static final Field<LocalDateTime> REVIEW_WRITTEN =
      field("reviews", "written", LOCALDATETIME);

  private final List<CloseableQuery> kept = new ArrayList<>();
  private DSLContext create;
  private JOOQWrites writes;

  private static <T> Field<T> field(String table, String column, DataType<T> type) {
    return DSL.field(name(table, column), type);
  }

  @Override
  protected void open(Connection connection) {
    System.setProperty("org.jooq.no-logo", "true");
    System.setProperty("org.jooq.no-tips", "true");
    Settings settings = tuned ? new Settings().withExecuteLogging(false) : new Settings();
    create = DSL.using(connection, SQLDialect.POSTGRES, settings);
    writes = new JOOQWrites(create, kept);
  }

  @Override
  protected Map<String, String> libraries() {
    return Map.of("jooq", Constants.FULL_VERSION);
  }

  @Override
  protected Objects<?> operation(String name) {
    return switch (name) {
      case "film" -> new Objects<>(Film.class, tuned ? tunedFilm() : this::film);
      case "user" -> new Objects<>(User.class, tuned ? tunedUser() : this::user);
      case "one" -> new Objects<>(FilmOnly.class, tuned ? tunedOne() : this::one);
      case "search" -> new Objects<>(Title.class, tuned ? tunedSearch() : this::search);
      case "page" -> new Objects<>(Title.class, tuned ? tunedPage() : this::page);
      case "add" -> writing(tuned ? writes.tunedAdd() : writes::add);
      case "change" -> writing(tuned ? writes.tunedChange() : writes::change);
      case "read_modify_write" ->
          writing(tuned ? writes.tunedReadModifyWrite() : writes::readModifyWrite);
      default -> null;
    };
  }

  // The queries, each by what identifies what is asked for: a value, a column of the query around
  // it, or a parameter.

  private static Select<Record2<Integer, String>> directors(Field<Integer> film) {
    return select(PERSON_ID, PERSON_NAME)
        .from(DIRECTORS)
        .join(PEOPLE)
        .on(PERSON_ID.eq(DIRECTOR_PERSON))
        .where(DIRECTOR_FILM.eq(film))
        .orderBy(DIRECTOR_POSITION);
  }

  private static Select<Record2<String, Person>> cast(Field<Integer> film) {
    return select(ACTOR_ROLE, row(PERSON_ID, PERSON_NAME).mapping(Person::new))
        .from(ACTORS)
        .join(PEOPLE)
        .on(PERSON_ID.eq(ACTOR_PERSON))
        .where(ACTOR_FILM.eq(film))
        .orderBy(ACTOR_POSITION);
  }

  private static Select<Record5<Integer, Integer, String, LocalDateTime, Person>> reviews(
      Field<Integer> film) {
    return select(
            REVIEW_ID,
            REVIEW_STARS,
            REVIEW_BODY,
            REVIEW_WRITTEN,
            row(USER_ID, USER_NAME).mapping(Person::new))
        .from(REVIEWS)
        .join(USERS)
        .on(USER_ID.eq(REVIEW_USER))
        .where(REVIEW_FILM.eq(film))
        .orderBy(REVIEW_WRITTEN.desc(), REVIEW_ID.desc());
  }

  private static Select<Record4<Integer, Integer, LocalDateTime, FilmTitle>> opinions(
      Field<Integer> user) {
    return select(
            REVIEW_ID,
            REVIEW_STARS,
            REVIEW_WRITTEN,
            row(FILM_ID, FILM_TITLE).mapping(FilmTitle::new))
        .from(REVIEWS)
        .join(FILMS)
        .on(FILM_ID.eq(REVIEW_FILM))
        .where(REVIEW_USER.eq(user))
        .orderBy(REVIEW_WRITTEN.desc(), REVIEW_ID.desc())
        .limit(Films.LATEST);
  }

  private static Select<Record3<Integer, String, LocalDate>> titles(
      Field<String> pattern, Field<String> title) {
    return select(FILM_ID, FILM_TITLE, FILM_RELEASED)
        .from(FILMS)
        .where(FILM_TITLE.like(pattern).and(FILM_TITLE.ge(title)))
        .orderBy(FILM_TITLE)
        .limit(Films.PAGE);
  }

  private static Select<Record3<Integer, String, LocalDate>> page(
      Field<String> pattern, Field<Integer> skip) {
    return select(FILM_ID, FILM_TITLE, FILM_RELEASED)
        .from(FILMS)
        .where(FILM_TITLE.like(pattern))
        .orderBy(FILM_TITLE)
        .limit(Films.PAGE)
        .offset(skip);
  }

  private static Select<Record4<Integer, String, LocalDate, BigDecimal>> films(Field<Integer> id) {
    return select(FILM_ID, FILM_TITLE, FILM_RELEASED, FILM_BUDGET)
        .from(FILMS)
        .where(FILM_ID.eq(id));
  }

  private static Field<Integer> stars() {
    return coalesce(sum(REVIEW_STARS), BigDecimal.ZERO).coerce(INTEGER);
  }

  // Shipped.

  private void film(Object[] parameters, Taker<Film> taker) throws Exception {
    taker.take(
        create
            .select(
                FILM_ID,
                FILM_TITLE,
                FILM_RELEASED,
                FILM_BUDGET,
                multiset(directors(FILM_ID)).convertFrom(rows -> rows.map(mapping(Person::new))),
                multiset(cast(FILM_ID)).convertFrom(rows -> rows.map(mapping(Part::new))),
                multiset(reviews(FILM_ID)).convertFrom(rows -> rows.map(mapping(Review::new))))
            .from(FILMS)
            .where(FILM_ID.eq((Integer) parameters[0]))
            .fetchSingle(mapping(Film::new)));
  }

  private void user(Object[] parameters, Taker<User> taker) throws Exception {
    taker.take(
        create
            .select(
                USER_ID,
                USER_NAME,
                count(REVIEW_ID),
                stars(),
                multiset(opinions(USER_ID)).convertFrom(rows -> rows.map(mapping(Opinion::new))))
            .from(USERS)
            .leftJoin(REVIEWS)
            .on(REVIEW_USER.eq(USER_ID))
            .where(USER_ID.eq((Integer) parameters[0]))
            .groupBy(USER_ID, USER_NAME)
            .fetchSingle(mapping(User::new)));
  }

  private void search(Object[] parameters, Taker<Title> taker) throws Exception {
    String pattern = Films.pattern(parameters[0]);
    Select<Record3<Integer, String, LocalDate>> titles =
        titles(DSL.val(pattern), DSL.val((String) parameters[0]));
    for (Title title : create.fetch(titles).map(mapping(Title::new))) {
      taker.take(title);
    }
  }

  private void page(Object[] parameters, Taker<Title> taker) throws Exception {
    Select<Record3<Integer, String, LocalDate>> titles =
        page(DSL.val(parameters[0] + "%"), DSL.val((Integer) parameters[1]));
    for (Title title : create.fetch(titles).map(mapping(Title::new))) {
      taker.take(title);
    }
  }

  private void one(Object[] parameters, Taker<FilmOnly> taker) throws Exception {
    Select<Record4<Integer, String, LocalDate, BigDecimal>> film =
        films(DSL.val((Integer) parameters[0]));
    film.attach(create.configuration());
    taker.take(film.fetchSingle(mapping(FilmOnly::new)));
  }

  // Tuned: each query is made when its phase is prepared.

  private <R extends Record> ResultQuery<R> kept(Select<R> query) {
    query.attach(create.configuration());
    CloseableResultQuery<R> made = query.keepStatement(true);
    kept.add(made);
    return made;
  }

  private Delivery<Film> tunedFilm() {
    Field<Integer> id = param("id", INTEGER);
    ResultQuery<Record4<Integer, String, LocalDate, BigDecimal>> films = kept(films(id));
    ResultQuery<Record2<Integer, String>> directors = kept(directors(id));
    ResultQuery<Record2<String, Person>> cast = kept(cast(id));
    ResultQuery<Record5<Integer, Integer, String, LocalDateTime, Person>> reviews =
        kept(reviews(id));
    return (parameters, taker) -> {
      Object key = parameters[0];
      Record4<Integer, String, LocalDate, BigDecimal> film = films.bind("id", key).fetchSingle();
      taker.take(
          new Film(
              film.value1(),
              film.value2(),
              film.value3(),
              film.value4(),
              directors.bind("id", key).fetch(mapping(Person::new)),
              cast.bind("id", key).fetch(mapping(Part::new)),
              reviews.bind("id", key).fetch(mapping(Review::new))));
    };
  }

  private Delivery<User> tunedUser() {
    Field<Integer> id = param("id", INTEGER);
    ResultQuery<Record4<Integer, String, Integer, Integer>> users =
        kept(
            select(USER_ID, USER_NAME, count(REVIEW_ID), stars())
                .from(USERS)
                .leftJoin(REVIEWS)
                .on(REVIEW_USER.eq(USER_ID))
                .where(USER_ID.eq(id))
                .groupBy(USER_ID, USER_NAME));
    ResultQuery<Record4<Integer, Integer, LocalDateTime, FilmTitle>> opinions = kept(opinions(id));
    return (parameters, taker) -> {
      Object key = parameters[0];
      Record4<Integer, String, Integer, Integer> user = users.bind("id", key).fetchSingle();
      List<Opinion> latest = opinions.bind("id", key).fetch(mapping(Opinion::new));
      taker.take(new User(user.value1(), user.value2(), user.value3(), user.value4(), latest));
    };
  }

  private Delivery<Title> tunedSearch() {
    ResultQuery<Record3<Integer, String, LocalDate>> titles =
        kept(titles(param("pattern", VARCHAR), param("title", VARCHAR)));
    return (parameters, taker) -> {
      titles.bind("pattern", Films.pattern(parameters[0])).bind("title", parameters[0]);
      for (Title title : titles.fetch(mapping(Title::new))) {
        taker.take(title);
      }
    };
  }

  private Delivery<Title> tunedPage() {
    ResultQuery<Record3<Integer, String, LocalDate>> titles =
        kept(page(param("pattern", VARCHAR), param("skip", INTEGER)));
    return (parameters, taker) -> {
      titles.bind("pattern", parameters[0] + "%").bind("skip", parameters[1]);
      for (Title title : titles.fetch(mapping(Title::new))) {
        taker.take(title);
      }
    };
  }

  private Delivery<FilmOnly> tunedOne() {
    ResultQuery<Record4<Integer, String, LocalDate, BigDecimal>> film =
        kept(films(param("id", INTEGER)));
    return (parameters, taker) ->
        taker.take(film.bind("id", parameters[0]).fetchSingle(mapping(FilmOnly::new)));
  }

  @Override
  public void close() throws Exception {
    kept.forEach(CloseableQuery::close);
    super.close();
  }
}
