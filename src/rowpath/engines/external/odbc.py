"""Any database with an ODBC driver of the user's own: reached by `rowpath probe` alone, for its dialect is unknown."""

from __future__ import annotations

from rowpath.engines.external.jdbc import OwnDriver

ENGINE = OwnDriver("odbc", "rowpath probe 'odbc:SERVER=…;DATABASE=…' --odbc-driver FILE --query 'SELECT …'")
