"""The C runner: one executable per adapter, its families and one static core, compiled with the system's C compiler."""

from __future__ import annotations

import functools
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import structs

from rowpath.errors import EnvironmentMissing
from rowpath.machine import postgresql_programs, processes
from rowpath.machine.directories import build_dir, data_dir
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners.driver_package import DriverFacts, facts_of_files
from rowpath.runners.manifest import Adapter, Command, family_folders, source_file
from rowpath.runners.toolchains import c_compiler, cobol, compiling, driver_versions, ecpg, odbc
from rowpath.runners.toolchains.c_compiler import has_header, library_file

# A newer compiler's new warnings must not stop a user: `make check` is where they are errors.
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra")
# A driver's library must not take our function for its own of the same name (libmariadbd has a my_open, too).
HIDDEN = "-fvisibility=hidden"
LIBPQ = "libpq.so.5"
REMEDY = "apt-get install gcc libc6-dev"


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether this adapter can be built and run here; quick, builds nothing."""
    each = [_built_here(one, version) for one in programs(adapter, path)]
    return next((one for one in each if one.ok), each[0])


def programs(adapter: Adapter, path: AccessPath | None = None) -> list[Adapter]:
    """The adapter as each of the programs that it is built as: one, or one for each client library of its engines.

    `build.engine.NAME` holds what the build for that engine has instead of the adapter's own; with a path only the
    program of the path's engine.
    """
    engines = adapter.build.get("engine", {})
    if not engines:
        return [adapter]
    if path is not None and path.engine in engines:
        engines = {path.engine: engines[path.engine]}
    common = {key: value for key, value in adapter.build.items() if key != "engine"}
    return [
        structs.replace(adapter, source=own.get("source", adapter.source), build=common | own)
        for own in engines.values()
    ]


def _built_here(adapter: Adapter, version: str) -> Availability:
    what = f"C adapter {adapter.driver}"
    compiler = c_compiler.words()
    if shutil.which(compiler[0]) is None:
        return Availability(False, what, f"no C compiler ({compiler[0]})", REMEDY)
    if refused := driver_versions.refused(adapter, version, "libpq"):
        return Availability(False, what, *refused)
    if adapter.build.get("libpq") and "/" in version and not (Path(version).parent / LIBPQ).is_file():
        # The loader looks for that name.
        folder = Path(version).parent
        return Availability(False, what, f"no {LIBPQ} in {folder}", f"ln -s {Path(version).name} {folder / LIBPQ}")
    if adapter.build.get("libpq") and version == postgresql_programs.VERSION_TLS:
        fetched = postgresql_programs.availability_tls()
        if not fetched.ok:
            return Availability(False, what, fetched.reason, fetched.remedy)
    missing = (
        compiling.lacking("library", adapter.build.get("libraries", {}), library_file)
        or compiling.lacking("header", adapter.build.get("headers", {}), has_header)
        or odbc.problem(adapter, version)
        or ecpg.problem(adapter)
        or cobol.problem(adapter)
    )
    return Availability(False, what, *missing) if missing else Availability(True, what)


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Bring the core and these adapters up to date in the cache. EnvironmentMissing without a compiler."""
    wanted: list[tuple[Adapter, str, str]] = []
    for adapter, version in adapters:
        of_driver = [path for path in paths if path.driver == adapter.driver]
        differing = {(path.engine, path.statement): path for path in of_driver}
        for path in differing.values() or (AccessPath.of({}),):
            every = programs(adapter, path)
            for program in every:
                one = (program, version, path.statement if program.build.get("ecpg") else "")
                if one not in wanted and (len(every) == 1 or _built_here(program, version).ok):
                    wanted.append(one)
    # What the executables share comes first, or each would make it.
    fetched = {version for program, version, _statement in wanted if program.build.get("libpq")}
    processes.side_by_side([_core, *(functools.partial(_libpq, version) for version in sorted(fetched))])
    processes.side_by_side((functools.partial(executable, *one) for one in wanted), compiling.AT_ONCE)


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner for this path."""
    thread = ("--thread", path.get("thread")) if path.get("thread") != "none" else ()
    program = programs(adapter, path)[0]
    return Command((str(executable(program, version, path.statement)), "--adapter", adapter.driver, *thread))


def executable(adapter: Adapter, version: str, statement: str = "") -> Path:
    """The adapter's runner, built when it is not there yet; embedded SQL is built again for each statement mode."""
    linked = [f"-l:{library}" for library in adapter.build.get("libraries", {})]
    included: list[str] = []
    if adapter.build.get("libpq"):
        included, linked = _libpq(version)
    included += [f"-I{_source('core')}", *adapter.build.get("compile", ()), *odbc.definition(adapter, version)]
    included += ecpg.definition(adapter)
    source = source_file(adapter)
    if adapter.build.get("ecpg"):
        source = _precompiled(source, statement)
    linked += [*adapter.build.get("link", ()), "-lm"]
    families = family_folders(adapter)
    included += [*(f"-I{folder}" for folder in families), HIDDEN]
    units = [unit for folder in families for unit in sorted(folder.glob("*.c"))]
    return _built(adapter.driver, [source, *units, *_cobol(adapter)], included, linked)


def _precompiled(source: Path, statement: str) -> Path:
    """Embedded SQL as C, made when no such is in the cache."""
    inputs = sorted([source, *source.parent.glob("*.h")])
    target = build_dir("c") / f"{source.stem}-{statement}-{_key(inputs, [])}.c"
    return compiling.made_once(target, lambda made: ecpg.precompile(source, made, statement))


def _cobol(adapter: Adapter) -> list[Path]:
    """The objects of the adapter's COBOL subprograms, compiled when no such are in the cache."""
    objects = []
    for source in (source_file(adapter, name) for name in adapter.build.get("cobol", ())):
        key = _key([source, *sorted(source.parent.glob("*.cpy"))], [*cobol.COMMAND, cobol.version()])
        target = build_dir("c") / f"{source.stem}-{key}.o"
        objects.append(compiling.made_once(target, functools.partial(cobol.compile_to, source)))
    return objects


def echo_command(
    *,
    unix: Path | None = None,
    tcp: int | None = 0,
    listen: str = "127.0.0.1",
    cpu: int | None = None,
    burn_ns: int = 0,
    stall_ns: int = 0,
    stall_every: int = 0,
) -> tuple[str, ...]:
    """How to start the ping server: it prints `ready tcp=PORT`, serves, and ends with its parent or its stdin.

    `tcp` 0: any free port of `listen`; None: no TCP (then PORT is 0). It burns `burn_ns` of CPU per answer and
    sleeps `stall_ns` before each `stall_every`-th one.
    """
    program = _built("echo", [_source("tools/echo.c")], [], [], core=False)
    options = {
        "--burn-ns": burn_ns,
        "--stall-ns": stall_ns,
        "--stall-every": stall_every,
        "--unix": unix,
        "--tcp": tcp,
        "--cpu": cpu,
        "--listen": listen if listen != "127.0.0.1" else None,
    }
    return str(program), *(word for name, value in options.items() if value is not None for word in (name, str(value)))


def link_command(to_port: int, delay_ns: int) -> tuple[str, ...]:
    """How to start the emulated link: it prints `ready tcp=PORT`, and ends with its parent or its stdin.

    Every chunk is handed on `delay_ns` after it arrived, in both directions.
    """
    program = _built("link", [_source("tools/link.c")], [], [], core=False)
    return str(program), "--to", str(to_port), "--delay-ns", str(delay_ns)


def replay_command() -> tuple[str, ...]:
    """How to start the replay server; its options stand in runners/c/tools/replay/main.c."""
    folder = _source("tools/replay")
    inputs = sorted(folder.glob("*.c"))
    return (str(_built("replay", inputs, [], [], core=False)),)


def ibmi_command() -> tuple[str, ...]:
    """How to start the stand-in for IBM i; its options stand in runners/c/tools/ibmi/main.c."""
    return (str(_built("ibmi", sorted(_source("tools/ibmi").glob("*.c")), [], ["-pthread"], core=False)),)


def network_program() -> str:
    """The program that measures clocks and the way between two hosts; runners/c/tools/network.c says how."""
    return str(_built("network", [_source("tools/network.c")], [], [], core=False))


def sync_count_library() -> Path:
    """The LD_PRELOAD library that counts syncs; the layout of its counters stands in runners/c/tools/sync_count.c."""
    return _built("sync_count.so", [_source("tools/sync_count.c")], ["-fPIC", "-shared"], ["-ldl"], core=False)


def call_stamps_library() -> Path:
    """The LD_PRELOAD library that stamps sending, receiving, waiting; its stamps: runners/c/tools/call_stamps.c."""
    return _built("call_stamps.so", [_source("tools/call_stamps.c")], ["-fPIC", "-shared"], ["-ldl"], core=False)


def codec_trial() -> Path:
    """The program through which tests drive the codec (runners/c/tests/codec_trial.c says how)."""
    return _built("codec_trial", [_source("tests/codec_trial.c")], [f"-I{_source('core')}"], ["-lm"])


@functools.cache
def _compiler_version(compiler: tuple[str, ...]) -> str:
    """What the compiler prints about itself, for the build's key. EnvironmentMissing when it cannot be started."""
    try:
        return subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentMissing(f"the C compiler {shlex.join(compiler)} does not start: {error}", REMEDY) from error


def _source(name: str) -> Path:
    return data_dir() / "runners" / "c" / name


def _libpq(version: str) -> tuple[list[str], list[str]]:
    """Compiler and linker arguments for libpq: of the PostgreSQL in use, or (same headers) with TLS."""
    prefix = postgresql_programs.install()
    include, library = prefix / "include", prefix / "lib"
    if not (include / "libpq-fe.h").is_file():  # a system's own prefix has its headers elsewhere
        include, library = _pg_config(prefix, "--includedir"), _pg_config(prefix, "--libdir")
    if not (include / "libpq-fe.h").is_file():
        raise EnvironmentMissing(f"no libpq-fe.h in {include}", "apt-get install libpq-dev")
    if "/" in version:
        library = Path(version).parent
    elif version == postgresql_programs.VERSION_TLS:
        library = postgresql_programs.install_tls() / "lib"
    return [f"-I{include}"], [str(library / LIBPQ), f"-Wl,-rpath,{library}"]


def driver_libraries(adapter: Adapter, version: str) -> list[Path]:
    """The shared libraries that are the driver, those that are there; fetches nothing."""
    if "engine" in adapter.build:
        return [file for program in programs(adapter) for file in driver_libraries(program, version)]
    found = [library_file(name) for name in adapter.build.get("libraries", {})]
    if "file" in adapter.build.get("odbc", {}):
        found.insert(0, odbc.driver_file(adapter, version))
    if adapter.build.get("libpq") and "/" in version:
        found.append(Path(version))
    elif adapter.build.get("libpq"):
        tls = version == postgresql_programs.VERSION_TLS
        prefix = postgresql_programs.tls_prefix() if tls else postgresql_programs.prefix()
        found.append((prefix / "lib" / LIBPQ).resolve())
    return [file for file in found if file is not None and file.is_file()]


def _pg_config(prefix: Path, question: str) -> Path:
    program = str(prefix / "bin" / "pg_config")
    return Path(compiling.run([program, question], f"{program} failed", "apt-get install libpq-dev").strip())


def _key(inputs: Sequence[Path], arguments: Sequence[str]) -> str:
    return compiling.key(inputs, [*arguments, *c_compiler.words(), _compiler_version(tuple(c_compiler.words()))])


def _built(name: str, sources: list[Path], included: list[str], linked: list[str], *, core: bool = True) -> Path:
    """A program or library of that name, compiled when no build of these very inputs is in the cache."""
    inputs = sorted({*sources, *(file for source in sources for file in source.parent.glob("*.h"))})
    cores = sorted(_source("core").glob("*.[ch]")) if core else []
    target = build_dir("c") / f"{name}-{_key([*inputs, *cores], [*FLAGS, *included, *linked])}"

    def link(made: Path) -> None:
        archive = [str(_core())] if core else []
        _compile([*included, *map(str, sources), *archive, *linked, "-pthread", "-o", str(made)], name)

    return compiling.made_once(target, link)


def _core() -> Path:
    """The core as a static library: everything but families and adapters."""
    sources = sorted(_source("core").glob("*.c"))
    target = build_dir("c") / f"libcore-{_key(sorted(_source('core').glob('*.[ch]')), FLAGS)}.a"

    def archive(made: Path) -> None:
        objects = [made.with_name(f"{source.stem}.o") for source in sources]
        processes.side_by_side(
            (
                functools.partial(_compile, ["-c", str(source), "-o", str(compiled)], source.name)
                for source, compiled in zip(sources, objects, strict=True)
            ),
            compiling.AT_ONCE,
        )
        compiling.run(["ar", "rcsD", str(made), *map(str, objects)], "the core's library cannot be built", REMEDY)

    return compiling.made_once(target, archive)


def _compile(arguments: list[str], what: str) -> None:
    flags = shlex.quote(" ".join(FLAGS))
    compiling.run(
        [*c_compiler.words(), *FLAGS, f'-DRP_COMPILER_FLAGS="{flags[1:-1]}"', *arguments],
        f"{what} does not compile",
        REMEDY,
    )


def driver_facts(adapter: Adapter, version: str) -> DriverFacts:
    """What the Debian package of the driver's library has, else the library itself."""
    return facts_of_files(driver_libraries(adapter, version), version)
