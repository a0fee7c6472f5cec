"""Where a database's file is, as SQLite's URI."""

from urllib.parse import quote


def uri_of(options):
    """`file:/path?mode=rw`; `ro` where it is opened read-only."""
    mode = "ro" if options.get("read_only") == "yes" else "rw"
    return f"file:{quote(options['path'])}?mode={mode}"
