"""What a layer wants of its user: found in the layer's own file, by what its operation reaches."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from rowpath.model.path import AccessPath
from rowpath.runners.manifest import Adapter, Layer, adapter_of, every_adapter
from rowpath.runners.user_lines import UserCode, user_code

PYTHON = '''
from families.films.none import NOTHING

PAGE = 20  # a comment


class Base:
    pass


class Film(Base):
    """A film."""

    id: int


class Review(Base):
    film = "films.Film"


class Alone(Base):
    id: int


FOUND = select(Film).limit(PAGE)
NEVER = select(Alone)


class Adapter(LayerAdapter):
    def open(self):
        self.engine = NEVER

    def film(self, key):
        # a comment

        return self._one(key)

    async def tuned_film(self, key):
        return await FOUND

    def _one(self, key):
        return NOTHING
'''
BRACES = """
package rowpath.layers;

/** A layer { with a brace. */
public final class Made extends JdbcLayer {
  public record Film(int id, String title) {
    Film {
      title = "}";
    }
  }

  private static final String FILM = "SELECT ; {" + " FROM films";
  private static final Mapper<Film> MAPPER = (row, at) -> {
    return new Film(row.getInt(1));
  };
  private static final String NEVER = "";

  @Override
  protected void open(Connection connection) {
    use(NEVER);
  }

  private Film film(Object key) {
    Film film = jdbc.tunedFilm(FILM, key);
    return film; // a comment
  }

  private Film tunedFilm(Object key) {
    return list.map(this::made).get(0);
  }

  private Film made(Object row) {
    return MAPPER.map(row);
  }
}
"""


def code(folder: Path, text: str, suffix: str, driver: tuple[str, str], profile: str) -> UserCode | None:
    """The code of `film` in a layer of that text."""
    source = folder / "layers" / f"Made{suffix}"
    source.parent.mkdir(exist_ok=True)
    source.write_text(text)
    adapter = adapter_of(*driver)
    layer = structs.replace(adapter.layers[0], name="made", source=str(source))
    made = AccessPath.of({"language": driver[0], "driver": driver[1], "layer": "made", "profile": profile})
    return user_code(structs.replace(adapter, layers=(layer,)), made, "film")


@pytest.mark.parametrize(("profile", "operation", "mapping"), [("shipped", 4, 0), ("tuned", 2, 8)])
def test_an_operation_is_what_it_reaches_and_a_relation_has_two_ends(
    tmp_path: Path, profile: str, operation: int, mapping: int
) -> None:
    found = code(tmp_path, PYTHON, ".py", ("python", "psycopg"), profile)
    assert found is not None and found.lines == (operation, mapping)
    assert all("Alone" not in text for text in found.mapping)


@pytest.mark.parametrize(("profile", "operation", "mapping"), [("shipped", 4, 6), ("tuned", 6, 8)])
def test_a_file_with_braces_is_read_by_its_members(tmp_path: Path, profile: str, operation: int, mapping: int) -> None:
    found = code(tmp_path, BRACES, ".java", ("java", "pgjdbc"), profile)
    assert found is not None and found.lines == (operation, mapping)


def test_files_beside_it_and_the_statements_of_a_mapper_that_are_called_count(tmp_path: Path) -> None:
    mapper = 'interface Mapper {\n    @Select("SELECT 1")\n    Film find(int id);\n\n    Film never(int id);\n  }\n'
    film = "private Film film(Object key) {\n    return mapper.find(key);\n  }\n"
    text = f"public final class Made {{\n  {mapper}\n  {film}}}"
    (tmp_path / "layers").mkdir()
    (tmp_path / "layers" / "MadeFilms.java").write_text("final class MadeFilms {\n  record Film(int id) {}\n}\n")
    found = code(tmp_path, text, ".java", ("java", "pgjdbc"), "tuned")
    assert found is not None and found.lines == (3, 3)  # the two lines of the statement, and the record
    assert all("never" not in each for each in found.mapping)


def test_an_unknown_language_and_an_absent_operation_have_no_lines(tmp_path: Path) -> None:
    assert code(tmp_path, BRACES, ".unknown", ("java", "pgjdbc"), "tuned") is None
    assert code(tmp_path, BRACES.replace("ilm(Object", "(Object"), ".java", ("java", "pgjdbc"), "tuned") is None


LAYERS = [(adapter, layer) for adapter in every_adapter() for layer in adapter.layers if layer.name != "none"]


@pytest.mark.parametrize("profile", ["shipped", "tuned"])
@pytest.mark.parametrize(
    ("adapter", "layer"), LAYERS, ids=[f"{adapter.driver} {layer.name}" for adapter, layer in LAYERS]
)
@pytest.mark.parametrize("access", ["film", "user", "search", "one", "page", "add", "change", "read_modify_write"])
def test_every_layer_says_its_lines(adapter: Adapter, layer: Layer, profile: str, access: str) -> None:
    where = {"language": adapter.language, "driver": adapter.driver, "layer": layer.name, "profile": profile}
    found = user_code(adapter, AccessPath.of(where), access)
    assert found is not None
    operation, mapping = found.lines
    assert operation > 1 and mapping >= 1


BY_HAND = [(adapter, layer) for adapter in every_adapter() for layer in adapter.layers if layer.name == "none"]
OPERATIONS = ("film", "user", "search", "one", "page", "add", "change", "read_modify_write")


@pytest.mark.parametrize(("adapter", "layer"), BY_HAND, ids=[adapter.driver for adapter, _layer in BY_HAND])
def test_every_technique_by_hand_says_its_lines(adapter: Adapter, layer: Layer) -> None:
    where = {"language": adapter.language, "driver": adapter.driver, "layer": layer.name, "profile": "tuned"}
    for technique in layer.techniques:
        for access in layer.operations.get(technique, OPERATIONS):
            found = user_code(adapter, AccessPath.of(where | {"technique": technique}), access)
            assert found is not None and min(found.lines) >= 1, (technique, access)
