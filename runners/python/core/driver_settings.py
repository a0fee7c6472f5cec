"""The option `driver_settings`: the driver's own settings of a connection."""

from core.adapter import Unsupported


def driver_settings(options):
    """Their texts by name."""
    return dict(line.split("=", 1) for line in options.get("driver_settings", "").splitlines())


def with_settings(connect, options, /, **ours):
    """What `connect` returns, given our keyword arguments and the driver's settings, numbers and `true` as such."""
    given = {name: value_of(text) for name, text in driver_settings(options).items()}
    try:
        return connect(**(ours | given))
    except (TypeError, AttributeError) as error:  # what drivers raise for a name that they do not know
        if not given:
            raise
        raise Unsupported(str(error)) from error


def value_of(text):
    """As Python's drivers take it."""
    return int(text) if text.isdecimal() else text == "true" or text
