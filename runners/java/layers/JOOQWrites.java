package rowpath.layers;

import static org.jooq.impl.DSL.inline;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.param;
import static org.jooq.impl.DSL.val;
import static org.jooq.impl.SQLDataType.INTEGER;
import static org.jooq.impl.SQLDataType.LOCALDATE;
import static org.jooq.impl.SQLDataType.NUMERIC;
import static org.jooq.impl.SQLDataType.VARCHAR;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import org.jooq.CloseableQuery;
import org.jooq.DSLContext;
import org.jooq.DataType;
import org.jooq.Field;
import org.jooq.InsertResultStep;
import org.jooq.InsertValuesStep3;
import org.jooq.InsertValuesStep4;
import org.jooq.Query;
import org.jooq.Record;
import org.jooq.Record1;
import org.jooq.ResultQuery;
import org.jooq.Table;
import org.jooq.impl.DSL;
import rowpath.Layer.Work;
import rowpath.films.Films;
import rowpath.films.Graph;

/** jOOQ's operations that write: INSERT of many rows, UPDATE, SELECT FOR UPDATE. */
final class JOOQWrites {
  private static final Table<Record> FILMS = DSL.table(name("films_added"));
  private static final Field<Integer> ID = field("films_added", "id", INTEGER);
  private static final Field<String> TITLE = field("films_added", "title", VARCHAR);
  private static final Field<LocalDate> RELEASED = field("films_added", "released", LOCALDATE);
  private static final Field<BigDecimal> BUDGET = field("films_added", "budget", NUMERIC(12, 2));

  private static final Table<Record> DIRECTORS = DSL.table(name("directors_added"));
  private static final Field<Integer> DIRECTOR_FILM = field("directors_added", "film_id", INTEGER);
  private static final Field<Integer> DIRECTOR = field("directors_added", "person_id", INTEGER);
  private static final Field<Integer> DIRECTOR_POSITION =
      field("directors_added", "position", INTEGER);

  private static final Table<Record> ACTORS = DSL.table(name("actors_added"));
  private static final Field<Integer> ACTOR_FILM = field("actors_added", "film_id", INTEGER);
  private static final Field<Integer> ACTOR = field("actors_added", "person_id", INTEGER);
  private static final Field<Integer> ACTOR_POSITION = field("actors_added", "position", INTEGER);
  private static final Field<String> ROLE = field("actors_added", "role", VARCHAR);

  private static final Table<Record> CHANGED = DSL.table(name("films_changed"));
  private static final Field<Integer> CHANGED_ID = field("films_changed", "id", INTEGER);
  private static final Field<String> NEW_TITLE = field("films_changed", "title", VARCHAR);
  private static final Field<BigDecimal> NEW_BUDGET =
      field("films_changed", "budget", NUMERIC(12, 2));

  private final DSLContext create;
  private final List<CloseableQuery> kept;

  /** {@code kept}: takes the queries that are to be closed with the connection. */
  JOOQWrites(DSLContext create, List<CloseableQuery> kept) {
    this.create = create;
    this.kept = kept;
  }

  private static <T> Field<T> field(String table, String column, DataType<T> type) {
    return DSL.field(name(table, column), type);
  }

  void add(Object[] row) {
    create.transaction(
        configuration -> {
          DSLContext in = configuration.dsl();
          Integer film =
              insert(in, val((String) row[0]), val((LocalDate) row[1]), val((BigDecimal) row[2]))
                  .fetchSingle()
                  .value1();
          InsertValuesStep3<Record, Integer, Integer, Integer> directors =
              in.insertInto(DIRECTORS, DIRECTOR_FILM, DIRECTOR, DIRECTOR_POSITION);
          for (Graph.DirectorRow one : Graph.directors(row[3])) {
            directors.values(film, one.person(), one.position());
          }
          directors.execute();
          InsertValuesStep4<Record, Integer, Integer, Integer, String> cast =
              in.insertInto(ACTORS, ACTOR_FILM, ACTOR, ACTOR_POSITION, ROLE);
          for (Graph.ActorRow one : Graph.cast(row[3])) {
            cast.values(film, one.person(), one.position(), one.role());
          }
          cast.execute();
        });
  }

  private static InsertResultStep<Record1<Integer>> insert(
      DSLContext in, Field<String> title, Field<LocalDate> released, Field<BigDecimal> budget) {
    return in.insertInto(FILMS, TITLE, RELEASED, BUDGET)
        .values(title, released, budget)
        .returningResult(ID);
  }

  void change(Object[] row) {
    create
        .update(CHANGED)
        .set(NEW_TITLE, (String) row[1])
        .set(NEW_BUDGET, (BigDecimal) row[2])
        .where(CHANGED_ID.eq((Integer) row[0]))
        .execute();
  }

  void readModifyWrite(Object[] row) {
    create.transaction(
        configuration -> {
          DSLContext in = configuration.dsl();
          Integer key = (Integer) row[0];
          BigDecimal budget =
              in.select(NEW_BUDGET)
                  .from(CHANGED)
                  .where(CHANGED_ID.eq(key))
                  .forUpdate()
                  .fetchSingle()
                  .value1();
          in.update(CHANGED)
              .set(NEW_BUDGET, Films.raised(budget, row[1]))
              .where(CHANGED_ID.eq(key))
              .execute();
        });
  }

  // Tuned: each query is made when its phase is prepared.

  private <Q extends Query> Q kept(Q query) {
    kept.add(query.keepStatement(true));
    return query;
  }

  /** jOOQ closes the statement of an INSERT that returns something, kept or not. */
  Work tunedAdd() {
    InsertResultStep<Record1<Integer>> film =
        insert(
            create,
            param("title", VARCHAR),
            param("released", LOCALDATE),
            param("budget", NUMERIC(12, 2)));
    Field<Integer> key = param("film", INTEGER);
    InsertValuesStep3<Record, Integer, Integer, Integer> directors =
        create.insertInto(DIRECTORS, DIRECTOR_FILM, DIRECTOR, DIRECTOR_POSITION);
    for (Graph.DirectorRow one : Graph.directors(0)) {
      directors.values(key, param("person" + one.position(), INTEGER), inline(one.position()));
    }
    InsertValuesStep4<Record, Integer, Integer, Integer, String> cast =
        create.insertInto(ACTORS, ACTOR_FILM, ACTOR, ACTOR_POSITION, ROLE);
    for (Graph.ActorRow one : Graph.cast(0)) {
      cast.values(
          key,
          param("person" + one.position(), INTEGER),
          inline(one.position()),
          param("role" + one.position(), VARCHAR));
    }
    Query allDirectors = kept((Query) directors);
    Query wholeCast = kept((Query) cast);
    return row ->
        create.transaction(
            configuration -> {
              film.bind("title", row[0]).bind("released", row[1]).bind("budget", row[2]);
              Integer added = film.fetchSingle().value1();
              allDirectors.bind("film", added);
              for (Graph.DirectorRow one : Graph.directors(row[3])) {
                allDirectors.bind("person" + one.position(), one.person());
              }
              allDirectors.execute();
              wholeCast.bind("film", added);
              for (Graph.ActorRow one : Graph.cast(row[3])) {
                wholeCast.bind("person" + one.position(), one.person());
                wholeCast.bind("role" + one.position(), one.role());
              }
              wholeCast.execute();
            });
  }

  Work tunedChange() {
    Query change =
        kept(
            create
                .update(CHANGED)
                .set(NEW_TITLE, param("title", VARCHAR))
                .set(NEW_BUDGET, param("budget", NUMERIC(12, 2)))
                .where(CHANGED_ID.eq(param("id", INTEGER))));
    return row -> change.bind("title", row[1]).bind("budget", row[2]).bind("id", row[0]).execute();
  }

  Work tunedReadModifyWrite() {
    ResultQuery<Record1<BigDecimal>> locked =
        kept(
            create
                .select(NEW_BUDGET)
                .from(CHANGED)
                .where(CHANGED_ID.eq(param("id", INTEGER)))
                .forUpdate());
    Query change =
        kept(
            create
                .update(CHANGED)
                .set(NEW_BUDGET, param("budget", NUMERIC(12, 2)))
                .where(CHANGED_ID.eq(param("id", INTEGER))));
    return row ->
        create.transaction(
            configuration -> {
              BigDecimal budget = locked.bind("id", row[0]).fetchSingle().value1();
              change.bind("budget", Films.raised(budget, row[1])).bind("id", row[0]).execute();
            });
  }
}
