"""What parts of a run take, roughly, on the machine that they were taken from: the constants of every estimate.

What differs by language stands in its manifest, what loading takes in its engine; `python -m bench estimate` compares.
"""

from __future__ import annotations

# Before the first set.
BEGIN_S = 1.0  # the methods of counting tried, the head written
BRING_UP_S, BRING_UP_SERVER_S, BRING_UP_JVM_S = 0.3, 1.0, 3.0  # an engine made and started; one written in Java more
VERIFY_S, VERIFY_SERVED_S = 0.6, 0.6  # a path verified; over a proxy that counts more
VERIFY_OPERATIONS = 10  # of a whole table: verified, settled, counted
STRACED_S = 5e-4  # a round trip, or a row written, while strace counts system calls
STRACED_SCANS, STRACED_READS, STRACED_WRITES = 6, 23, 100  # operations that it counts
HOST_S, WAY_S = 0.5, 1.5  # clocks of a host; the way between two: before and after all sets each
MOVE_S, MOVE_ROW_S = 5.0, 1.5e-5  # a database made or copied, and every table read at both ends

# Of each set.
SET_S = 0.5  # noise looked at, processes ended
STARTING_SHARE = 0.7  # of the processes' starts: they overlap
QUIET_S = 0.15  # before each phase's blocks: compilers come to rest
COLD_S = 0.05  # a phase prepared on a path, and its first pass
WRITE_S = 0.25  # around a write phase: tables made again, the engine brought to rest, what was written checked
WARM_BLOCKS = 9  # the least that can be judged
WARM_MORE = 1.1  # of the least time: paths that keep no level
REPEATED = 1.1  # blocks, with those that were disturbed
EXCHANGE_S = 0.002  # a request to a runner and its reply, journalled

# Operations.
LONG_OPERATION_S = 0.05  # no lead-in before such
CONNECT_S = 0.003
FETCH_S = 3e-5  # the round trip for the next rows of a cursor
SYNC_S, TURN_S, SPLIT_S = 0.0008, 0.00006, 0.00012  # a write that waits for the disk; that does not; with two cores
WRITE_ROW_S = 6e-5  # of an operation that stores many
LINK_S = 0.0001  # more than a link's stated round trip
COLUMNS_S, SUMMED_S = 3e-7, 1e-7  # of a row in columns; of one that only an aggregate sees

# Client groups.
BESIDE_S = 0.7  # per stage and path: clients made ready, totals fetched, a little for what is checked afterwards
BACKUP_BEGUN_S = 2.0  # seconds of a stage around its backup
BACKUP_S, BACKUP_ROW_S = 0.4, 4e-6
RESTORE_S, RESTORE_ROW_S = 9.0, 7e-6  # a restored backup is checked, then read row by row
REST_S = 3.0  # after warming up: compilers come to rest
RECOVER_S = 5.0  # a killed engine started again, and its ledger read; only HSQLDB's lock takes ten
