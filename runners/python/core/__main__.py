"""`python -m core [--source FILE] --adapter DRIVER`: keep replies apart from prints, end with stdin."""

import os
import select
import sys
import threading

from core.lifetime import die_with_parent
from core.session import Session

BUFFER_BYTES = 1 << 20


def stop_at_end_of_stdin():
    """Sleeps until the controller's end of stdin is closed, then ends the process, also in the middle of a sample."""
    poll = select.poll()
    poll.register(0, 0)  # only hang-up is reported; requests stay for the session
    poll.poll()
    os._exit(0)


def main():
    *source, option, driver = sys.argv[1:] if len(sys.argv) in (3, 5) else ("", "")
    if option != "--adapter" or source[:1] not in ([], ["--source"]):
        sys.exit("usage: python -m core [--source FILE] --adapter DRIVER")
    die_with_parent()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.Thread(target=stop_at_end_of_stdin, daemon=True).start()
    requests = os.fdopen(os.dup(0), "rb", buffering=BUFFER_BYTES)
    Session(driver, *source[1:]).serve(requests, replies)
    replies.flush()
    os._exit(0)


main()
