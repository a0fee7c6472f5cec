"""C: one executable per adapter, its families and one static core, compiled with the system's C compiler.

Embedded SQL becomes C by PostgreSQL's precompiler first; COBOL subprograms become objects by GnuCOBOL's compiler.
Without a compiler some adapters come compiled in the wheel: these load their client library by its path.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Iterable
from pathlib import Path

from msgspec import structs

from rowpath.errors import EnvironmentMissing
from rowpath.machine import c_compiler, compiling, downloads, postgresql_programs, processes
from rowpath.machine.c_compiler import has_header, library_file
from rowpath.machine.directories import build_dir, cache_dir
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners import building
from rowpath.runners.driver_facts import facts_of_files
from rowpath.runners.manifest import Adapter, Command, DriverFacts, family_folders, source_file

# A driver's library must not take our function for its own of the same name (libmariadbd has a my_open, too).
HIDDEN = "-fvisibility=hidden"
FOLDER = Path(__file__).parent
CORE = FOLDER / "core"
LIBPQ = "libpq.so.5"
LIBPQ_REMEDY = "apt-get install libpq-dev"
ADBC = downloads.Wheel(
    name="adbc-driver-flightsql",
    version="1.13.0",
    sha256={
        "x86_64": "1199552b5cfe3349554a972c372fcaa2ecfdfac27b942c8ddf8c3bf798690c31",
        "aarch64": "38886f49e3504c0b226796bcae914cf32293b79104c273459510c36592880749",
    },
    platform="manylinux_2_28",
    wanted=("adbc_driver_flightsql/libadbc_driver_flightsql.so",),
)
ADBC_SONAME = "libadbc_driver_flightsql.so.113"  # which the loader looks for
PRECOMPILER, PRECOMPILER_REMEDY = "ecpg", "apt-get install libecpg-dev"
COBOL_COMPILER = ("cobc", "-c", "-free", "-O2")
COBOL_REMEDY = "apt-get install gnucobol3"


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether this adapter can be built and run here; quick, builds nothing."""
    variants = [_built_here(program, version) for program in programs(adapter, path)]
    return next((variant for variant in variants if variant.ok), variants[0])


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
    from_wheel = precompiled(adapter) is not None
    problem = (
        (None if from_wheel else c_compiler.problem())
        or building.refused(adapter, version, "libpq")
        or (_libpq_problem(version, from_wheel) if adapter.build.get("libpq") else None)
        or (ADBC.availability(ADBC.name, _adbc_library()).problem if adapter.build.get("adbc") else None)
        or compiling.lacking("library", adapter.build.get("libraries", {}), _loaded if from_wheel else library_file)
        or (None if from_wheel else compiling.lacking("header", adapter.build.get("headers", {}), has_header))
        or building.odbc_problem(adapter, version, library_file)
        or missing_program(adapter)
    )
    return Availability.of(f"C adapter {adapter.driver}", problem)


def precompiled(adapter: Adapter) -> Path | None:
    """The wheel's build of one of our adapters' programs; None where a compiler makes it, or the wheel has none."""
    source = source_file(adapter)
    return c_compiler.precompiled(source.stem) if source.is_relative_to(FOLDER) else None


def _loaded(name: str) -> Path | None:
    """The client library that a program of the wheel loads: the machine's, else the one that the wheel brings."""
    return building.system_library(name) or c_compiler.precompiled(name)


def _libpq_problem(version: str, from_wheel: bool) -> tuple[str, str] | None:
    file = Path(version)
    # The system's loader looks for that name.
    if "/" in version and not from_wheel and not file.with_name(LIBPQ).is_file():
        return f"no {LIBPQ} in {file.parent}", f"ln -s {file.name} {file.with_name(LIBPQ)}"
    return postgresql_programs.availability_tls().problem if version == postgresql_programs.VERSION_TLS else None


def missing_program(adapter: Adapter) -> tuple[str, str] | None:
    """The precompiler or COBOL compiler that the adapter lacks here, and the command that would bring it, or None."""
    if adapter.build.get("ecpg") and shutil.which(PRECOMPILER) is None:
        return f"no precompiler {PRECOMPILER}", PRECOMPILER_REMEDY
    if adapter.build.get("cobol") and shutil.which(COBOL_COMPILER[0]) is None:
        return f"no COBOL compiler ({COBOL_COMPILER[0]})", COBOL_REMEDY
    return None


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Bring the core and these adapters up to date in the cache. EnvironmentMissing without a compiler."""
    wanted: list[tuple[Adapter, str, str]] = []
    for adapter, version in adapters:
        differing = {(path.engine, path.statement): path for path in paths if path.driver == adapter.driver}
        for path in differing.values() or (AccessPath.of({}),):
            every = programs(adapter, path)
            for program in every:
                variant = (program, version, path.statement if program.build.get("ecpg") else "")
                if variant not in wanted and (len(every) == 1 or _built_here(program, version).ok):
                    wanted.append(variant)
    # What the executables share comes first, or each would make it.
    fetched = {version for program, version, _statement in wanted if program.build.get("libpq")}
    core = [] if c_compiler.problem() else [_core]
    processes.side_by_side([*core, *(functools.partial(_libpq_folder, version) for version in sorted(fetched))])
    processes.side_by_side((functools.partial(executable, *variant) for variant in wanted), compiling.AT_ONCE)


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner for this path."""
    thread = ("--thread", path.get("thread")) if path.get("thread") != "none" else ()
    program = programs(adapter, path)[0]
    libraries = _libraries_to_load(program, version) if precompiled(program) else ()
    loading = (word for file in libraries for word in ("--library", str(file)))
    return Command((str(executable(program, version, path.statement)), *loading, "--adapter", adapter.driver, *thread))


def _libraries_to_load(adapter: Adapter, version: str) -> list[Path]:
    """The client library of a program of the wheel; it brings along what it needs itself, such as zlib."""
    if adapter.build.get("libpq"):
        return [Path(version) if "/" in version else _libpq_folder(version) / LIBPQ]
    return [file for name in [*adapter.build.get("libraries", {})][:1] if (file := _loaded(name))]


def executable(adapter: Adapter, version: str, statement: str = "") -> Path:
    """The adapter's runner, built when it is not there yet; embedded SQL is built again for each statement mode."""
    if file := precompiled(adapter):
        return c_compiler.taken(file)
    linked = [f"-l:{library}" for library in adapter.build.get("libraries", {})]
    included: list[str] = []
    if adapter.build.get("libpq"):
        included, linked = _libpq(version)
    if adapter.build.get("adbc"):
        included, linked = _adbc()
    included += adapter.build.get("compile", ())
    if "file" in adapter.build.get("odbc", {}):  # else the connection names the driver's file
        included.append(f'-DODBC_LIBRARY="{building.odbc_driver(adapter, version, library_file)}"')
    (source, *units), folders = parts(adapter)
    if adapter.build.get("ecpg"):
        printed = compiling.run([PRECOMPILER, "--version"], f"{PRECOMPILER} prints no version", PRECOMPILER_REMEDY)
        included.append(f'-DECPG_VERSION="{printed.partition(") ")[2].split()[0]}"')
        source = _precompiled(source, statement)
    linked += [*adapter.build.get("link", ()), "-lm"]
    return _built(adapter.driver, [source, *units, *_cobol(adapter)], [*included, *folders, HIDDEN], linked)


def parts(adapter: Adapter) -> tuple[list[Path], list[str]]:
    """The sources that are the adapter's program beside the core, its own first; the arguments that name headers."""
    families = family_folders(adapter)
    units = [unit for folder in families for unit in sorted(folder.glob("*.c"))]
    return [source_file(adapter), *units], [f"-I{folder}" for folder in (CORE, *families)]


def _precompiled(source: Path, statement: str) -> Path:
    """Embedded SQL as C, made when no such is in the cache; prepared: every statement once per connection."""
    prepared = ("-r", "prepare") if statement == "prepared" else ()

    def precompile_to(made: Path) -> None:
        words = [PRECOMPILER, *prepared, "-o", str(made), str(source)]
        compiling.run(words, f"{source} cannot be precompiled", PRECOMPILER_REMEDY)

    name = f"{source.stem}-{statement}-{c_compiler.key(sorted([source, *source.parent.glob('*.h')]), [])}.c"
    return compiling.made_once(build_dir("c") / name, precompile_to)


def _cobol(adapter: Adapter) -> list[Path]:
    """The objects of the adapter's COBOL subprograms, compiled when no such are in the cache.

    What a subprogram copies stands beside it. InternalError when one does not compile.
    """

    def compile_to(made: Path) -> None:
        words = [*COBOL_COMPILER, f"-I{source.parent}", "-o", str(made), str(source)]
        compiling.run(words, f"{source.name} does not compile", COBOL_REMEDY)

    objects = []
    for source in (source_file(adapter, name) for name in adapter.build.get("cobol", ())):
        key = c_compiler.key([source, *sorted(source.parent.glob("*.cpy"))], [*COBOL_COMPILER, cobol_version()])
        objects.append(compiling.made_once(build_dir("c") / f"{source.stem}-{key}.o", compile_to))
    return objects


@functools.cache
def cobol_version() -> str:
    """What the COBOL compiler prints about itself. EnvironmentMissing when it cannot be started."""
    return compiling.run([COBOL_COMPILER[0], "--version"], f"{COBOL_COMPILER[0]} prints no version", COBOL_REMEDY)


def codec_trial() -> Path:
    """The program through which tests drive the codec (runners/c/tests/codec_trial.c says how)."""
    return _built("codec_trial", [CORE.parent / "tests" / "codec_trial.c"], [f"-I{CORE}"], ["-lm"])


def _libpq(version: str) -> tuple[list[str], list[str]]:
    """Compiler and linker arguments for libpq: of the PostgreSQL in use, or (same headers) with TLS."""
    prefix = postgresql_programs.install()
    include = prefix / "include"
    if not (include / "libpq-fe.h").is_file():  # a system's own prefix has its headers elsewhere
        include = _pg_config(prefix, "--includedir")
    if not (include / "libpq-fe.h").is_file():
        raise EnvironmentMissing(f"no libpq-fe.h in {include}", LIBPQ_REMEDY)
    library = _libpq_folder(version)
    return [f"-I{include}"], [str(library / LIBPQ), f"-Wl,-rpath,{library}"]


def _libpq_folder(version: str) -> Path:
    """Where that libpq is, fetched when it is not there yet."""
    if "/" in version:
        return Path(version).parent
    if version == postgresql_programs.VERSION_TLS:
        return postgresql_programs.install_tls() / "lib"
    prefix = postgresql_programs.install()
    library = prefix / "lib"
    return library if (library / LIBPQ).is_file() else _pg_config(prefix, "--libdir")


def _adbc_library() -> Path:
    return cache_dir() / f"{ADBC.name}-{ADBC.version}" / ADBC.wanted[0]


def _adbc() -> tuple[list[str], list[str]]:
    """Compiler and linker arguments for ADBC's driver of Flight SQL, fetched when it is not there."""
    library = _adbc_library()

    def unpack(folder: Path) -> None:
        ADBC.unpack(folder)
        file = folder / ADBC.wanted[0]
        file.with_name(ADBC_SONAME).symlink_to(file.name)

    downloads.install(library, library.parents[1], lambda: ADBC.availability(ADBC.name, library), unpack)
    return [f'-DADBC_DRIVER_VERSION="{ADBC.version}"'], [str(library), f"-Wl,-rpath,{library.parent}"]


def driver_libraries(adapter: Adapter, version: str) -> list[Path]:
    """The shared libraries that are the driver, those that are there; fetches nothing."""
    if "engine" in adapter.build:
        return [file for program in programs(adapter) for file in driver_libraries(program, version)]
    find = _loaded if precompiled(adapter) else library_file
    files = [find(name) for name in adapter.build.get("libraries", {})]
    if "file" in adapter.build.get("odbc", {}):
        files.insert(0, building.odbc_driver(adapter, version, library_file))
    if adapter.build.get("adbc"):
        files.append(_adbc_library())
    if adapter.build.get("libpq") and "/" in version:
        files.append(Path(version))
    elif adapter.build.get("libpq"):
        tls = version == postgresql_programs.VERSION_TLS
        prefix = postgresql_programs.tls_prefix() if tls else postgresql_programs.prefix()
        files.append((prefix / "lib" / LIBPQ).resolve())
    return [file for file in files if file is not None and file.is_file()]


def _pg_config(prefix: Path, question: str) -> Path:
    program = str(prefix / "bin" / "pg_config")
    return Path(compiling.run([program, question], f"{program} failed", LIBPQ_REMEDY).strip())


def _built(name: str, sources: list[Path], included: list[str], linked: list[str]) -> Path:
    """A program of that name with our core."""
    return c_compiler.built(name, sources, included, linked, _core, sorted(CORE.glob("*.[ch]")))


def _core() -> Path:
    """The core as a static library: everything but families and adapters."""
    sources = sorted(CORE.glob("*.c"))
    key = c_compiler.key(sorted(CORE.glob("*.[ch]")), c_compiler.FLAGS)

    def archive(made: Path) -> None:
        objects = {str(made.with_name(f"{source.stem}.o")): source for source in sources}
        steps = (
            functools.partial(c_compiler.run, ["-c", str(source), "-o", name], source.name)
            for name, source in objects.items()
        )
        processes.side_by_side(steps, compiling.AT_ONCE)
        words = ["ar", "rcsD", str(made), *objects]
        compiling.run(words, "the core's library cannot be built", c_compiler.REMEDY)

    return compiling.made_once(build_dir("c") / f"libcore-{key}.a", archive)


def driver_facts(adapter: Adapter, version: str) -> DriverFacts:
    """What the Debian package of the driver's library has, else the library itself."""
    return facts_of_files(driver_libraries(adapter, version), version)
