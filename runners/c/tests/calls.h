/* What a build of the wheel writes, for checks only. */
CALL(0, PQexec)
CALL(1, PQclear)
