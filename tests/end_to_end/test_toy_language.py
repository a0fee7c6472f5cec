"""A language from outside src/ is built, verified and measured."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from tests import fakes
from tests.end_to_end.command import records, rowpath


def test_a_run_through_a_runner_in_the_toy_language(tmp_path: Path) -> None:
    folder = shutil.copytree(fakes.TOY_LANGUAGE.parent, tmp_path / "toy")
    root = fakes.HERE.parents[1]
    words = {"TOY_PYTHON": sys.executable, "TOY_PATH": f"{root / 'src'}:{root}"}
    experiment = tmp_path / "toys.toml"
    experiment.write_text(
        'schema_version = 1\nname = "toys"\ntitle = "Toys"\nphases = ["scan.read"]\n'
        "[measure]\nsets = 2\nmax_sets = 2\nrounds = 3\nwarm_cap_s = 0.3\n"
        '[[paths]]\nselect = { language = "toy" }\n'
    )
    asked = ["run", experiment, "--adapters", folder / "adapters.toml", "-o", tmp_path / "run"]
    done = rowpath(*asked, "--export-json", tmp_path / "run.json", added=words)
    assert done.returncode == 0, done.stderr
    assert (folder / "interpreter").is_file(), "its build command ran"
    export = json.loads((tmp_path / "run.json").read_text())
    times = [each for each in export["results"] if (each["metric"], each["regime"]) == ("time", "steady")]
    assert [each["path"]["language"] for each in times] == ["toy"]
    assert times[0]["median"] > 0
    written = records(tmp_path / "run")
    path = next(each for each in written if each["record"] == "path")
    assert path["shortest_operation_ns"] == 9000
    assert (path["language_title"], path["language_baseline"]) == ("Toy", False)
    head = next(each for each in written if each["record"] == "run")
    assert head["environment"]["toy"] == "toy 1.0"
    assert {"c_compiler", "java", "mono", "python"} <= head["environment"].keys()
