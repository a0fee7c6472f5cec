"""How the programs that a probe ends with are built and run: each reads its rows and says how many."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rowpath.machine import jvm, postgresql_programs
from rowpath.machine.directories import build_dir, locked
from rowpath.model.path import AccessPath
from rowpath.model.probe import Snippet
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.runners.manifest import Adapter, toolchain

go: Any = toolchain("go")
java: Any = toolchain("java")
python: Any = toolchain("python")
HANG_S = 1800  # compilers of several tests wait for each other, and for the CPU


def run(words: list[str], folder: Path, password: str, further: Mapping[str, str] = MappingProxyType({})) -> str:
    environment = {**os.environ, "PGPASSWORD": password, "DB_PASSWORD": password, "LC_ALL": "C.UTF-8", **further}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=HANG_S, check=False
    )
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
    return done.stdout


def start_c(adapter: Adapter, folder: Path, file: str) -> list[str]:
    prefix = postgresql_programs.install()
    flags = {
        "libpq": [f"-I{prefix / 'include'}", str(prefix / "lib" / "libpq.so.5"), f"-Wl,-rpath,{prefix / 'lib'}"],
        "libmariadb": ["-I/usr/include/mariadb", "-l:libmariadb.so.3"],
        "sqlite": ["-l:libsqlite3.so.0"],
        "file": [],
    }
    linked = flags.get(adapter.driver, ["-l:libodbc.so.2", "-l:libodbcinst.so.2"])
    run(["cc", "-Wall", "-Wextra", "-Werror", file, *linked, "-o", "fastest"], folder, "")
    return ["./fastest"]


def start_python(adapter: Adapter, folder: Path, file: str) -> list[str]:
    python.build([(adapter, adapter.versions[0])])
    program = python.interpreter(adapter, adapter.versions[0])
    assert program
    return [str(program), file]


def start_java(adapter: Adapter, folder: Path, file: str) -> list[str]:
    names = [one.split(":")[1] for one in java.artefacts(adapter, adapter.versions[0])]
    jars = ["-cp", jvm.class_path(names)] if names else []
    return [jvm.java_command(), "-XX:TieredStopAtLevel=1", *jars, file]


def start_csharp(adapter: Adapter, folder: Path, file: str) -> list[str]:
    references = ["-r:System.Data.dll", *(["-r:Mono.Data.Sqlite.dll"] if adapter.driver == "mono-data-sqlite" else [])]
    run(["mcs", *references, file], folder, "")
    return ["mono", file.replace(".cs", ".exe")]


def start_node(adapter: Adapter, folder: Path, file: str) -> list[str]:
    version = adapter.versions[0]
    manifest.build([(adapter, version)])
    node, main = map(Path, manifest.command(adapter, version, AccessPath.of({})).arguments[:2])
    packages = folder / "node_modules"
    if not packages.is_symlink():
        packages.symlink_to(main.parents[2] / "node_modules")
    return [str(node), file]


def start_go(adapter: Adapter, folder: Path, file: str) -> list[str]:
    words = go.build_words(folder / "fastest", folder / file, adapter.build.get("tags", ()))
    cgo = {"CGO_ENABLED": str(int(adapter.build.get("cgo", False)))}
    run(words, folder, "", go.BUILDING | cgo)  # the adapter's own: Go keeps what it compiled for each
    return ["./fastest"]


def start_rust(adapter: Adapter, folder: Path, file: str) -> list[str]:
    """The crates are those of the driver's lock; only tokio's macros come on top."""
    rust = manifest.toolchain("rust")
    project, name = folder / "rust", f"fastest-{adapter.driver}"
    (project / "src").mkdir(parents=True, exist_ok=True)
    (project / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nedition = "2024"\n[dependencies]\n{CRATES[adapter.driver]}',
        encoding="utf-8",
    )
    package = Path(manifest.language("rust").folder) / adapter.build.get("package", "")
    shutil.copyfile(package / "Cargo.lock", project / "Cargo.lock")
    target = build_dir("rust") / "snippets"
    folders = rust.library_folders(adapter)  # type: ignore[attr-defined]
    words = rust.build_words(project / "Cargo.toml", (name,), (), target, folders)  # type: ignore[attr-defined]
    quickly = [QUICKLY if word == f"profile.release.opt-level={rust.PROFILE['opt-level']}" else word for word in words]  # type: ignore[attr-defined]
    # Another test builds a program of that name, too, and cargo knows an older one only by the time of its source.
    with locked(target):
        shutil.copyfile(folder / file, project / "src" / "main.rs")
        run([word for word in quickly if word != "--locked"], folder, "")
        shutil.copy2(target / "release" / name, folder / "fastest")
    return ["env", *(f"LD_LIBRARY_PATH={place}" for place in folders.values()), "./fastest"]


QUICKLY = "profile.release.opt-level=0"  # the programs are not measured here
TOKIO = 'tokio = { version = "1", features = ["rt", "macros", "net", "time"] }\n'
WITHOUT_DEFAULTS = "default-features = false, features"
SQLX = (
    f'futures-util = "0.3"\n{TOKIO}sqlx = {{ version = "0.9", {WITHOUT_DEFAULTS} = ["runtime-tokio", "tls-native-tls", '
)
POSTGRES_TLS = 'postgres-native-tls = "0.5"\nnative-tls = "0.2"\n'
CRATES = {
    "duckdb": f'duckdb = {{ version = "=1.20000.1", {WITHOUT_DEFAULTS} = [] }}\n',
    "mysql": f'mysql = {{ version = "28", {WITHOUT_DEFAULTS} = ["minimal", "native-tls"] }}\n',
    "mysql_async": f'mysql_async = {{ version = "0.37", {WITHOUT_DEFAULTS} = ["minimal", "native-tls-tls"] }}\n{TOKIO}',
    "postgres": f'postgres = "0.19"\nbytes = "1"\n{POSTGRES_TLS}',
    "rusqlite": 'rusqlite = { version = "0.43", features = ["bundled"] }\n',
    "sqlx-mysql": SQLX + '"mysql"] }\n',
    "sqlx-postgres": SQLX + '"postgres", "bigdecimal", "chrono", "uuid"] }\n',
    "sqlx-sqlite": SQLX + '"sqlite"] }\n',
    "tokio-postgres": 'tokio-postgres = "0.7"\nfutures-util = "0.3"\nbytes = "1"\n' + TOKIO + POSTGRES_TLS,
}
STARTS: dict[str, Callable[[Adapter, Path, str], list[str]]] = {
    "c": start_c,
    "python": start_python,
    "java": start_java,
    "csharp": start_csharp,
    "go": start_go,
    "node": start_node,
    "rust": start_rust,
}


@dataclass(frozen=True)
class Program:
    """A program of a path, and how many rows it must read; `words`: what starts it, where that is known."""

    planned: PlannedPath
    made: Snippet
    rows: int
    words: tuple[str, ...] = ()

    @property
    def in_one_process(self) -> str:
        """What its process is shared by: programs of one driver, of a language in which that saves the most."""
        leaves_traces = self.words or "os._exit(" in self.made.text or "os.environ[" in self.made.text
        return "" if self.made.language not in TOGETHER or leaves_traces else f"{self.made.language} {self.driver}"

    @property
    def driver(self) -> str:
        return self.planned.adapter.driver


# Starting takes most of the time: programs of a driver run one after another, each in a namespace of its own.
PYTHON_TOGETHER = "import runpy, sys\nfor file in sys.argv[1:]: runpy.run_path(file, run_name='__main__')"
JAVA_TOGETHER = """
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import javax.tools.ToolProvider;

class Together {
  public static void main(String[] files) throws Exception {
    String jars = System.getProperty("java.class.path");
    for (String file : files) {
      Path folder = Path.of(file).getParent();
      String[] options = {"-d", folder.toString(), "-cp", jars, file};
      if (ToolProvider.getSystemJavaCompiler().run(null, null, null, options) != 0) System.exit(1);
      try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
        Method main = loader.loadClass("Fastest").getMethod("main", String[].class);
        main.invoke(null, (Object) new String[0]);
      }
    }
  }
}
"""
TOGETHER = ("python", "java")


def failures(programs: Iterable[Program], folder: Path, password: str) -> list[str]:
    """Run each program; what those that went wrong said, with their text."""
    processes: dict[str, list[Program]] = {}
    for number, program in enumerate(programs):
        processes.setdefault(program.in_one_process or str(number), []).append(program)
    wrong = []
    for together in processes.values():
        try:
            said = _said(together, folder, password)
            assert said == "".join(f"{program.rows} rows\n" for program in together), said
        except AssertionError as error:
            texts = [f"{program.planned.name}:\n{program.made.text}" for program in together]
            wrong.append("\n\n".join([str(error), *texts]))
    return wrong


def _said(together: list[Program], folder: Path, password: str) -> str:
    """What the programs print, in one process where they are several."""
    first = together[0]
    adapter, made = first.planned.adapter, first.made
    if len(together) == 1:
        (folder / made.file).write_text(made.text, encoding="utf-8")
        return run(list(first.words) or STARTS[made.language](adapter, folder, made.file), folder, password)
    files = []
    for number, program in enumerate(together):
        place = folder / f"{first.driver} {number}"
        place.mkdir(exist_ok=True)
        (place / made.file).write_text(program.made.text, encoding="utf-8")
        files.append(f"{place / made.file}")
    if made.language == "python":
        words = [*start_python(adapter, folder, "-c"), PYTHON_TOGETHER]
    else:
        (folder / "Together.java").write_text(JAVA_TOGETHER, encoding="utf-8")
        words = start_java(adapter, folder, "Together.java")
    return run([*words, *files], folder, password)
