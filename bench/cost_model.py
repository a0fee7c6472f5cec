"""The experiment `wide`: how well the cost model predicts the shapes that were held out of its fit."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure
from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import cost_models
from rowpath.analysis.chapters.links import PREDICTED_WITHIN
from rowpath.analysis.rankings import paths_to_repeat
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.plan import plan_for
from rowpath.execution.run import run_plan
from rowpath.execution.run_options import RunOptions
from rowpath.model.progress import Silent

SHARE_BAR = 0.8  # of the paths
TIMEOUT_S = 120.0


def measure(bench: Bench) -> Iterator[Figure]:
    """Per held-out shape: on how many paths the prediction is right."""
    directory = bench.directory / "wide"
    plan = plan_for("wide", {})
    run_plan(
        plan, RunOptions(timeout_s=TIMEOUT_S), directory=directory, progress=Silent(), paths_to_repeat=paths_to_repeat
    )
    models = cost_models.CHAPTER.of(analyse(directory))
    for phase in plan.experiment.model.held_out if plan.experiment.model else ():
        ratios = {model.name: held.ratio for model in models for held in model.held_out if held.phase == phase}
        right = sum(abs(ratio - 1) <= PREDICTED_WITHIN for ratio in ratios.values())
        each = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
        yield Figure(
            f"cost model: {phase} predicted within {PREDICTED_WITHIN:.0%}",
            f"{right} of {len(ratios)} paths (predicted ÷ measured: {each})",
            f"at least {SHARE_BAR:.0%}",
            bool(ratios) and right >= SHARE_BAR * len(ratios),
        )
