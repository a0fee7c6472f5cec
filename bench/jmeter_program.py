"""Apache JMeter as the machine's own Maven resolves it, laid out as its distribution is, and run without a window."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.machine import jvm, maven, processes
from rowpath.machine.counters import cpu
from rowpath.machine.directories import downloads_dir

HERE = Path(__file__).with_name("jmeter")
VERSION = "5.6.3"
# Of the lines "SHA-256  name" of all jars, sorted by name.
JARS_SHA256 = "5676b9ee4252fd224841c8829c80382dd8f35ac35ec828dcc849abb8f7b188c5"
LINE = re.compile(r"summary \+\s+(\d+) in .*Err:\s+(\d+) ")
LONGEST_S = 600  # should it not be stopped before
INTERVAL_S = 6  # between two lines of the summary, the least it keeps to


def home() -> Path:
    """The program's folder, made when it is missing. Errors: EnvironmentMissing."""
    folder = downloads_dir() / "java" / f"jmeter-{VERSION}"
    if not folder.is_dir():
        if shutil.which("mvn") is None:
            raise EnvironmentMissing(f"Maven is missing, JMeter {VERSION} cannot be fetched", maven.INSTALL)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            made = Path(scratch) / "jmeter"
            _fetch(made / "lib")
            _lay_out(made)
            made.rename(folder)
    return folder


def _fetch(folder: Path) -> None:
    plugin = f"org.apache.maven.plugins:maven-dependency-plugin:{maven.PLUGIN_VERSION}:copy-dependencies"
    command = ["mvn", "-q", "-B", "-C", "-f", str(HERE / "pom.xml"), plugin]
    done = processes.run(
        [*command, f"-DoutputDirectory={folder}", "-DincludeScope=runtime"],
        timeout_s=maven.TIMEOUT_S,
        environment=os.environ,
    )
    if done.returncode != 0:
        raise EnvironmentMissing(f"Maven ended with status {done.returncode}", f"mvn -f {HERE / 'pom.xml'} verify")
    jars = sorted(folder.iterdir())
    lines = [f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  {jar.name}\n" for jar in jars]
    found = hashlib.sha256("".join(lines).encode()).hexdigest()
    if found != JARS_SHA256:
        raise EnvironmentMissing(
            f"the {len(jars)} jars of JMeter {VERSION} are not those that were pinned: SHA-256 {found}",
            "see bench/jmeter_program.py",
        )


def _lay_out(folder: Path) -> None:
    lib = folder / "lib"
    for name in ("ext", "junit"):
        (lib / name).mkdir()
    with zipfile.ZipFile(lib / f"ApacheJMeter_config-{VERSION}.jar") as configuration:
        configuration.extractall(folder, [name for name in configuration.namelist() if name.startswith("bin/")])
    (lib / f"ApacheJMeter-{VERSION}.jar").rename(folder / "bin" / "ApacheJMeter.jar")
    for jar in lib.glob("ApacheJMeter_*.jar"):
        jar.rename(lib / "ext" / jar.name)


@dataclass(frozen=True)
class Piece:
    """So many operations, in how much time, of which the process had a core."""

    operations: int
    ns: int
    cpu_ns: int


def piece(
    settings: dict[str, str], drivers: list[Path], jvm_options: list[str], cpus: tuple[int, ...], spans_s: list[float]
) -> Piece:
    """What the plan with these settings does in the second of two spans of CPU time.

    Errors: RowpathError when an operation fails.
    """
    folder = home()
    with tempfile.TemporaryDirectory() as scratch:
        command = [jvm.java_command(), *jvm.OPTIONS, *jvm_options, "-Djava.awt.headless=true"]
        command.append(f"-Djava.util.prefs.userRoot={scratch}")
        command += ["-jar", str(folder / "bin" / "ApacheJMeter.jar"), "-n", "-t", str(HERE / "read.jmx")]
        command += ["-Jjmeterengine.nongui.port=0", "-j", f"{scratch}/jmeter.log"]
        command += [f"-Jsummariser.interval={INTERVAL_S}", f"-Jseconds={LONGEST_S}"]
        command += [f"-Juser.classpath={os.pathsep.join(map(str, drivers))}"]
        command += [f"-J{name}={value}" for name, value in settings.items()]
        process = processes.start(
            command, environment={"LC_ALL": "C.UTF-8"}, cpus=cpus, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            return _second_span(process, spans_s)
        finally:
            processes.stop(process)


def _second_span(process: processes.Process, spans_s: list[float]) -> Piece:
    """From the lines of the summary as they come: the thread that reads prints them."""
    assert process.stdout is not None
    operations, said = 0, ""
    marks: list[tuple[int, int, int]] = []  # operations, instant, CPU time so far
    for line in map(bytes.decode, process.stdout):
        said += line
        found = LINE.match(line)
        if found is None:
            continue
        if int(found[2]):
            break
        operations += int(found[1])
        now = (operations, time.monotonic_ns(), cpu.total_ns([process.pid]))
        if not marks or now[2] - marks[-1][2] >= spans_s[len(marks) - 1] * 1e9:
            marks.append(now)
        if len(marks) == 3:
            return Piece(*(after - before for after, before in zip(marks[2], marks[1], strict=True)))
    raise RowpathError(f"JMeter told no rate without failures: {said[-500:]}")
