"""MariaDB: a private server or its library in the client's process, tables in InnoDB, MyISAM or Aria."""

from rowpath.engines.mariadb.engine import ENGINE, Mariadb

__all__ = ["ENGINE", "Mariadb"]
