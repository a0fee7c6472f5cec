"""The header `[language]` of an `adapters.toml`: all that is particular to a language outside its runner."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from rowpath.model.base import Frozen

AboveZero = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]


class SnippetDriver(Frozen, frozen=True):
    """A driver in programs that `probe` writes: its template, what the command needs for it, where its password is."""

    template: str = ""  # TEMPLATE + suffix + `.j2` in the folder `snippets`; empty: called like the driver
    needs: str = ""
    socket_needs: str = ""  # what follows `needs` where it reaches the server by a Unix socket
    run: str = ""  # a line for a shell; empty: as the language's
    password: str = "DB_PASSWORD"  # the environment variable
    placeholder: str = "?"  # in its SQL: `?`, `$1` or `%s`
    percent: str = "%%"  # with `%s`: what stands for a % of the SQL's own
    takes_names: bool = False  # with `%s`: it takes `%(name)s` too, and parameters by name
    interpolates: bool = False  # statement=text: it writes the values into the SQL itself


class Snippets(Frozen, frozen=True):
    """How the programs that `probe` writes are called and started; {file}, {stem} and {needs} are filled in."""

    file: str = ""  # empty: `fastest-NAME` + suffix
    run: str = ""  # a line for a shell
    run_bare: str = ""  # where the driver needs nothing; empty: as `run`
    run_layer: str = ""  # a program with a layer; empty: as `run`
    keywords: tuple[str, ...] = ()  # what no attribute of a class can be called
    layer_checks: tuple[str, ...] = ()  # drivers whose programs with a layer check certificates
    binary_parameters: bool = False  # whether its templates write binary values as parameters, not into the SQL
    drivers: dict[str, SnippetDriver] = {}


Sampler = Literal["perf", "perf-frame-pointers", "async-profiler", "py-spy"]


class CallStacks(Frozen, frozen=True):
    """How `explain` samples a runner's call stacks, and which parts of the time it names in them."""

    sampler: Sampler = "perf"  # `perf` finds callers by unwinding tables
    runtime: str = ""  # the part that the program's own file is; empty: our loop and adapter
    libraries: tuple[str, ...] = ()  # how the names of the runtime's shared libraries begin; `folder/`: all of those
    compiled: str = ""  # the part that is code without a file, compiled while the program runs; empty: unknown
    symbols: Literal["", "import-path", "crate"] = ""  # drivers are linked into the program: their names are in symbols
    names: Literal["", "v8-log"] = ""  # functions without a symbol: V8 writes their names when it is started again


class Language(Frozen, frozen=True):
    """A language: its words, what planning assumes of its runner, how that is built. Defaults: of an unknown one."""

    name: str
    title: str = ""  # empty: the name with a capital letter
    source_suffix: str = ""
    source_by_class: bool = False  # a source is called by its class: `MyDriver.java`
    comment_marks: tuple[str, ...] = ()  # lines that begin with one are no code; only of suffixes that are not known
    memory_mib: AboveZero = 100  # of a live runner
    start_s: NotNegative = 0.5
    row_s: NotNegative = 1e-6  # a row taken out with all its values
    warm_least_s: tuple[NotNegative, NotNegative] = (0.2, 0.1)  # in a process's first phase, in each later one
    compiling_s: tuple[NotNegative, NotNegative] = (0.0, 0.0)  # for estimates: until its compilers rest, as above
    probe_warm_s: tuple[NotNegative, NotNegative] = (0.0, 0.0)  # in a probe: of a new process, of one that has worked
    shortest_operation_ns: NotNegative = 0  # shorter ones cannot be timed one by one at under 2 %; 0: not known
    null_operation_ns: NotNegative = 0  # the most that the loop may take for nothing; 0: no bar
    lead_in_least_ns: Annotated[int, Meta(ge=0)] = 0  # blocks after a shorter lead-in are slower
    helper_threads: tuple[str, ...] = ()  # how the names of threads begin that work beside the program: its compilers
    selftest_driver: str = ""  # reads SQLite in `selftest`; empty: none does
    client_groups: bool = True  # whether the runner knows several groups of clients at work at once
    shared_dispatch: bool = False  # whether any free client of a group can take the next arrival
    most_clients: Annotated[int, Meta(ge=0)] = 0  # that one process of the runner can have; 0: as many as fit
    tools: dict[str, tuple[str, ...]] = {}  # recorded with a run: name → command that prints the version
    toolchain: str = ""  # empty: `toolchain.py` of the folder; `command`; else the language whose `toolchain.py` it is
    build: tuple[str, ...] = ()  # toolchain `command`: run in the folder before the first runner starts
    run: tuple[str, ...] = ()  # toolchain `command`: {folder}, {source} and {driver} are filled in
    ipv6_brackets: bool = False  # its drivers expect an IPv6 address in brackets
    baseline: bool = False  # the verdict compares other languages with it
    explain: CallStacks = CallStacks()
    snippets: Snippets = Snippets()
    folder: str = ""  # of the manifest

    def lead_in_ns(self, requested_ns: int) -> int:
        """The lead-in to send where this one is requested: none stays none."""
        return max(requested_ns, self.lead_in_least_ns) if requested_ns else 0

    @property
    def snippet_file(self) -> str:
        """What the program that `probe` writes is called."""
        return self.snippets.file or f"fastest-{self.name}{self.source_suffix}"
