"""A layer above a driver: operations by name that hand over objects, of which every attribute is read."""

from core.adapter import Adapter, Unsupported
from core.operation import Operation
from core.session import load_adapter


class AboveDriver(Adapter):
    """What stands above a driver: what it does not do itself is done by the driver's own adapter."""

    def __init__(self, options, **of_driver):
        super().__init__(options)
        self.driver = load_adapter(options["driver"])({**options, **of_driver})
        self.errors = (*self.driver.errors, *self.errors)
        self.concurrency = self.driver.concurrency

    def open(self):
        raise NotImplementedError

    def operation(self, execute, parameters):
        """The driver's kind of operation; `execute` is a coroutine function above an asynchronous one."""
        kind = self.driver.operation if self.concurrency == "tasks" else Operation
        return kind(execute, parameters)

    def run(self, statement):
        self.driver.run(statement)

    def version(self):
        """The layer's version."""
        raise NotImplementedError

    def facts(self):
        facts = self.driver.facts()
        return facts | {"libraries": facts.get("libraries", {}) | self.version()}

    def code(self, error):
        for each in (getattr(error, "orig", None), error.__cause__, error):  # a layer wraps its driver's error
            if isinstance(each, self.driver.errors):
                return self.driver.code(each)
        return type(error).__name__


class LayerAdapter(AboveDriver):
    """A query layer, an ORM, or a program by hand: one class called `Adapter` in one file under layers/.

    `open()` connects as the layer's documentation says. A method for each operation takes its parameters and gives a
    list of objects with the attributes that the phase's columns name, nested ones included; one that writes gives
    nothing, and leaves no transaction open. Above an asynchronous driver it is a coroutine function. Where there is a
    method `tuned_NAME` too, it is taken unless `profile=shipped`. What is no operation is done by the driver's own
    adapter, in autocommit: the profile is the layer's.
    """

    def __init__(self, options):
        super().__init__(options, profile="tuned")
        self.tuned = options.get("profile") != "shipped"

    def connect(self):
        notes = self.driver.connect()
        self.open()
        return notes

    def another(self):
        if self.concurrency == "tasks":
            raise Unsupported("a layer above an asynchronous driver has one client here")
        return super().another()

    def prepare(self, phase, parameters):
        if phase.kind != "objects":
            return self.driver.prepare(phase, parameters)
        name = phase.access
        deliver = (self.tuned and getattr(self, f"tuned_{name}", None)) or getattr(self, name, None)
        if not deliver:
            raise Unsupported(f"this layer has no operation {name!r}")
        if not phase.columns:  # it writes, and hands over nothing
            return self.operation(lambda row: deliver(*row), parameters)
        read = reader(phase.columns)
        if self.concurrency != "tasks":
            return self.operation(lambda row: map(read, deliver(*row)), parameters)

        async def execute(row):
            return [read(one) for one in await deliver(*row)]

        return self.operation(execute, parameters)

    def transaction(self, phase):
        return None if phase.kind == "objects" else self.driver.transaction(phase)

    def close(self):
        self.driver.close()


def reader(columns):
    """A function of an object: a tuple of its attributes, nested objects as tuples, many of them as lists."""
    scope = {}
    exec(f"def read(of):\n    return {_source(columns, 'of', 0)}", scope)
    return scope["read"]


def _source(columns, of, depth):
    return f"({''.join(_value(column, f'{of}.{column.name}', depth) + ', ' for column in columns)})"


def _value(column, value, depth):
    if column.type == "rows":
        each = f"of{depth}"
        return f"[{_source(column.fields, each, depth + 1)} for {each} in {value}]"
    return _source(column.fields, value, depth) if column.type == "struct" else value


def unknown_technique(technique):
    """What to raise for a technique that an operation does not have."""
    return Unsupported(f"this operation is not written with technique={technique}")
