"""Any database with an ODBC driver of the user's own: reached by `rowpath probe` only, for its dialect is unknown."""

from __future__ import annotations

from rowpath.engines.external.jdbc import OwnDriver

EXAMPLE = "rowpath probe 'odbc:SERVER=…;DATABASE=…' --odbc-driver FILE --query 'SELECT …'"
ENGINE = OwnDriver("odbc", 81, "--odbc-driver", EXAMPLE)
