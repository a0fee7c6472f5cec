"""`python -m rowpath_runner --adapter DRIVER`: keep replies apart from prints, die with the controller, serve."""

import ctypes
import os
import select
import signal
import sys
import threading

from rowpath_runner.session import LIMIT_BYTES, Session

PR_SET_PDEATHSIG = 1


def stop_at_end_of_stdin():
    """Sleeps until the controller's end of stdin is closed, then ends the process, also in the middle of a sample."""
    poll = select.poll()
    poll.register(0, 0)  # hang-up alone is reported; what there is to read stays for the session
    poll.poll()
    os._exit(0)


def main():
    arguments = sys.argv[1:]
    if len(arguments) != 2 or arguments[0] != "--adapter":
        sys.exit("usage: python -m rowpath_runner --adapter DRIVER")
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.Thread(target=stop_at_end_of_stdin, daemon=True).start()
    requests = os.fdopen(os.dup(0), "rb", buffering=LIMIT_BYTES)
    Session(arguments[1]).serve(requests, replies)
    replies.flush()
    os._exit(0)


main()
