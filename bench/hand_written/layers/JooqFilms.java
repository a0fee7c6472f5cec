import static org.jooq.Records.mapping;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.multiset;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.param;
import static org.jooq.impl.DSL.row;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.SQLDataType.INTEGER;
import static org.jooq.impl.SQLDataType.LOCALDATE;
import static org.jooq.impl.SQLDataType.LOCALDATETIME;
import static org.jooq.impl.SQLDataType.NUMERIC;
import static org.jooq.impl.SQLDataType.VARCHAR;

import java.math.BigDecimal;
import java.time.LocalDate;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record3;
import org.jooq.ResultQuery;
import org.jooq.SQLDialect;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;

/**
 * jOOQ without generated code, as its documentation says: one query with a MULTISET for each list.
 * The search is an expert's: a query that is made once, its statement kept.
 */
public final class JooqFilms {
  private static final Field<Integer> ID = field(name("films", "id"), INTEGER);
  private static final Field<String> TITLE = field(name("films", "title"), VARCHAR);
  private static final Field<LocalDate> RELEASED = field(name("films", "released"), LOCALDATE);
  private static final Field<BigDecimal> BUDGET = field(name("films", "budget"), NUMERIC(12, 2));
  private static final Field<Integer> PERSON = field(name("people", "id"), INTEGER);
  private static final Field<String> PERSON_NAME = field(name("people", "name"), VARCHAR);
  private static final Field<Integer> USER = field(name("users", "id"), INTEGER);
  private static final Field<String> USER_NAME = field(name("users", "name"), VARCHAR);

  private static DSLContext create;
  private static ResultQuery<Record3<Integer, String, LocalDate>> page;

  private JooqFilms() {}

  private static Field<Integer> number(String of, String column) {
    return field(name(of, column), INTEGER);
  }

  private static long film(Integer key) {
    return Films.read(
        create
            .select(
                ID,
                TITLE,
                RELEASED,
                BUDGET,
                multiset(
                        select(PERSON, PERSON_NAME)
                            .from(table(name("directors")))
                            .join(table(name("people")))
                            .on(PERSON.eq(number("directors", "person_id")))
                            .where(number("directors", "film_id").eq(ID))
                            .orderBy(number("directors", "position")))
                    .convertFrom(rows -> rows.map(mapping(Films.Person::new))),
                multiset(
                        select(
                                field(name("actors", "role"), VARCHAR),
                                row(PERSON, PERSON_NAME).mapping(Films.Person::new))
                            .from(table(name("actors")))
                            .join(table(name("people")))
                            .on(PERSON.eq(number("actors", "person_id")))
                            .where(number("actors", "film_id").eq(ID))
                            .orderBy(number("actors", "position")))
                    .convertFrom(rows -> rows.map(mapping(Films.Part::new))),
                multiset(
                        select(
                                number("reviews", "id"),
                                number("reviews", "stars"),
                                field(name("reviews", "body"), VARCHAR),
                                field(name("reviews", "written"), LOCALDATETIME),
                                row(USER, USER_NAME).mapping(Films.Person::new))
                            .from(table(name("reviews")))
                            .join(table(name("users")))
                            .on(USER.eq(number("reviews", "user_id")))
                            .where(number("reviews", "film_id").eq(ID))
                            .orderBy(
                                field(name("reviews", "written"), LOCALDATETIME).desc(),
                                number("reviews", "id").desc()))
                    .convertFrom(rows -> rows.map(mapping(Films.Review::new))))
            .from(table(name("films")))
            .where(ID.eq(key))
            .fetchSingle(mapping(Films.Film::new)));
  }

  private static long search(String title) {
    page.bind("pattern", Films.pattern(title)).bind("title", title);
    return Films.readTitles(page.fetch(mapping(Films.Title::new)));
  }

  public static void main(String[] arguments) throws Exception {
    System.setProperty("org.jooq.no-logo", "true");
    System.setProperty("org.jooq.no-tips", "true");
    Conversation conversation = new Conversation();
    boolean tuned = conversation.get("operation").equals("search");
    Settings settings = tuned ? new Settings().withExecuteLogging(false) : new Settings();
    create = DSL.using(conversation.connect(), SQLDialect.POSTGRES, settings);
    page =
        create
            .select(ID, TITLE, RELEASED)
            .from(table(name("films")))
            .where(TITLE.like(param("pattern", VARCHAR)).and(TITLE.ge(param("title", VARCHAR))))
            .orderBy(TITLE)
            .limit(20)
            .keepStatement(true);
    conversation.serve(JooqFilms::film, JooqFilms::search);
  }
}
