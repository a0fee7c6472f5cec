"""Flame graphs, their difference, and the same stacks for speedscope."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from rowpath.cli import explain
from rowpath.cli.explain import chosen
from rowpath.cli.plan import plan_for
from rowpath.errors import UsageError
from rowpath.model.explanation import Frame, Part, SideStacks
from rowpath.report import flame_graph, speedscope
from rowpath.report.flame_graph import boxes, tree
from tests.unit.flame_factory import CLIENT, EXEC, MAIN, SEND, SYSCALL, flame


def drawings(text: str) -> list[ElementTree.Element]:
    found = re.findall(r'<svg class="flame".*?</svg></svg>', text, re.DOTALL)
    return [ElementTree.fromstring(each) for each in found]


def test_frames_lie_below_their_callers_and_rare_ones_are_left_out() -> None:
    found = {box.node.frame: box for box in boxes(tree(dict(CLIENT)))}
    assert set(found) == {MAIN, EXEC, SEND, SYSCALL}
    assert (found[MAIN].begin, found[MAIN].width, found[MAIN].depth) == (0.0, 1.0, 0)
    assert found[EXEC].width == pytest.approx(0.9995)
    assert (found[SYSCALL].width, found[SYSCALL].depth) == (0.6, 3)
    assert list(boxes(tree({}))) == []


def test_the_page_is_whole_and_asks_for_nothing() -> None:
    text = flame_graph.page(flame(notes=("client: a note",)))
    client, server = drawings(text)
    titles = [each.findtext("title") or "" for each in client]
    assert titles[:3] == [
        "main · our loop and adapter · 10.0 µs · 100.0 %",
        "PQexecPrepared · libpq · 9.99 µs · 100.0 %",
        "__send <x>& · C library · 6.00 µs · 60.0 %",
    ]
    assert [each.findtext("title") for each in server][1].startswith("PortalRun · postgres · 10.0 µs · 50.0 %")
    kernel = next(each for each in client if (each.findtext("title") or "").startswith("tcp_sendmsg"))
    assert kernel.get("class") == "p0"
    for each in (*client, *server):
        end = float(each.get("x", "").rstrip("%")) + float(each.get("width", "").rstrip("%"))
        assert end <= 100.02
    assert "rare" not in text
    assert "client: a note" in text
    assert "default-src &#39;none&#39;" in text
    assert not re.search(r'(?:src|href)=|url\((?!#)| style="', text)
    assert '<th scope="row">server: postgres</th><td class="number">20.0 µs</td><td class="number">20.0 µs</td>' in text


def test_a_graph_of_many_stacks_stays_small() -> None:
    many = {(MAIN, *(Frame(f"f{depth}-{number}", "libpq") for depth in range(60))): 1 for number in range(4_000)}
    whole = flame()
    crowded = replace(whole, sides=(SideStacks("client", 1e4, "perf", many | dict(CLIENT)), whole.sides[1]))
    assert len(flame_graph.page(crowded)) < 100_000


def test_the_difference_of_two_paths() -> None:
    binary, text = flame("binary", 4_000.0), flame("text", 14_000.0)
    page = flame_graph.page(text, binary)
    client, server = drawings(page)
    assert client[0].get("class") == "r4"  # the greatest change
    assert (client[0].findtext("title") or "").endswith(" · +10.0 µs")
    assert {each.get("class") for each in server} == {"same"}
    less = drawings(flame_graph.page(binary, text))[0]
    assert less[0].get("class") == "b4"
    assert (less[0].findtext("title") or "").endswith(" · −10.0 µs")
    said = flame_graph.sentence(text, binary)
    assert said.startswith("text takes 10.0 µs more than binary; most changed: libpq (client) +10.0 µs, ")
    assert said in page
    assert flame_graph.sentence(binary, text).startswith("binary takes 10.0 µs less than text; most changed: libpq")


def test_the_sentence_says_what_is_the_path_s_own_and_whether_it_adds_up() -> None:
    busy, quiet = flame("busy"), flame("quiet")
    other = Part("core", "other programs", 90_000.0, "a clock")
    disturbed = replace(busy, parts=(*busy.parts, other), operation_ns=busy.operation_ns + other.ns)
    said = flame_graph.sentence(disturbed, quiet)
    assert said.startswith("busy takes 90.0 µs more than quiet; most changed: ")
    assert "other programs" not in said
    assert "add up" not in said
    lacking = replace(quiet, parts=quiet.parts[:2])
    assert flame_graph.sentence(disturbed, lacking).endswith(
        "The parts of quiet do not add up: repeat it on a quieter machine."
    )


def test_what_only_one_path_has_counts_as_change() -> None:
    only = {(MAIN, Frame("decode", "libpq")): 100.0}
    root = tree({(MAIN,): 50.0}, only)
    assert root.children[MAIN].change_ns == -50.0
    assert root.children[MAIN].children[Frame("decode", "libpq")].change_ns == -100.0


def test_what_only_the_other_path_has_is_drawn_beside_with_its_width() -> None:
    one, other = flame("one"), flame("other")
    decode = Frame("decode", "libpq")
    more = {**CLIENT, (MAIN, EXEC, decode): 5_000}
    other = replace(other, sides=(SideStacks("client", 15_000.0, "perf", more), other.sides[1]))
    found = {box.node.frame: box for box in boxes(tree(one.sides[0].times_ns(), other.sides[0].times_ns()))}
    assert found[decode].node.lost and not found[EXEC].node.lost
    assert found[decode].width == pytest.approx(5_000 / 15_000)  # of 10 µs of its own and these 5
    assert found[MAIN].width == 1.0
    assert found[EXEC].begin <= found[decode].begin < found[decode].begin + found[decode].width <= 1.0
    (drawn,) = (
        each for each in drawings(flame_graph.page(one, other))[0] if "decode" in (each.findtext("title") or "")
    )
    assert drawn.get("class") == "b4 lost"
    assert drawn.findtext("title") == "decode · libpq · only in the other path · −5.00 µs"
    assert "Dashed frames are only in other" in flame_graph.page(one, other)


def test_speedscope_keeps_to_its_format() -> None:
    document = speedscope.document(flame())
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]  # type: ignore[index]
    assert all(set(frame) == {"name", "file"} and isinstance(frame["name"], str) for frame in frames)
    profiles = document["profiles"]
    assert isinstance(profiles, list)
    assert [each["name"].split()[0] for each in profiles] == ["client", "server"]
    for each in profiles:
        assert each["type"] == "sampled"
        assert each["unit"] == "nanoseconds"
        assert len(each["samples"]) == len(each["weights"])
        assert each["startValue"] == 0
        assert each["endValue"] == pytest.approx(sum(each["weights"]))
        assert all(0 <= number < len(frames) for sample in each["samples"] for number in sample)
    assert profiles[1]["endValue"] == pytest.approx(20_000.0)
    outermost = {frames[sample[0]]["name"] for sample in profiles[0]["samples"]}
    assert outermost == {"main"}  # callers come first


@pytest.mark.parametrize(
    ("name", "file"), [("PostgreSQL C# TCP", "PostgreSQL-C-sharp-TCP"), ("a/../b c", "a-..-b-c"), ("é (x)", "é-x")]
)
def test_names_of_files(name: str, file: str) -> None:
    assert explain.file_name(name) == file


SAME = {"placement": ("same",), "engine": ("postgresql",), "language": ("c",)}


def test_a_path_is_compared_with_the_one_that_differs_only_so() -> None:
    against = explain.parse_against(["statement=text"], "tour")
    filters = SAME | {"statement": ("prepared",), "transport": ("tcp",)}
    wide = plan_for("tour", explain.widened(filters, against), seed=1)
    one = chosen(plan_for("tour", filters, seed=1), ["keyed.read"])
    paths = [each.path for each in explain.with_counterparts(one, wide, against).paths]
    assert [path.get("statement") for path in paths] == ["text", "prepared"]
    assert {path.get("transport") for path in paths} == {"tcp"}


@pytest.mark.parametrize(
    ("words", "flames", "error"),
    [
        (["statement"], True, "invalid --against 'statement': expected COORDINATE=VALUE"),
        (["statement=a,b"], True, "invalid --against 'statement=a,b'"),
        (["statement=text"], False, "--against needs the flame graphs that --no-flame leaves out"),
    ],
)
def test_against_what(words: list[str], flames: bool, error: str) -> None:
    with pytest.raises(UsageError, match=re.escape(error)):
        explain.parse_against(words, "tour", flame=flames)


@pytest.mark.parametrize(
    ("against", "error"),
    [
        ("statement=bound", "no path of tour differs from"),
        ("transport=tcp", "--against selects the chosen paths themselves"),
    ],
)
def test_no_path_to_compare_with(against: str, error: str) -> None:
    wanted = explain.parse_against([against], "tour")
    filters = SAME | {"statement": ("prepared",), "transport": ("tcp",)}
    one = chosen(plan_for("tour", filters, seed=1), ["keyed.read"])
    with pytest.raises(UsageError, match=error):
        explain.with_counterparts(one, plan_for("tour", SAME, seed=1), wanted)
