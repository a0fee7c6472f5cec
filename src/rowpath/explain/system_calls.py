"""Where native code enters the kernel, for samplers that do not look into it."""

from __future__ import annotations

import re

from rowpath.explain.parts import KERNEL
from rowpath.model.explanation import Frame

# The C library's wrappers, by all of their names: they are a few instructions around the call itself.
CALLS = (
    "sendto|sendmsg|send|recvfrom|recvmsg|recv|poll|ppoll|epoll_p?wait|select|readv?|writev?|pread64|pwrite64"
    "|fdatasync|fsync|lseek64|fcntl64"
)
WRAPPER = re.compile(rf"_*(?:GI_+|libc_)?(?:{CALLS})")
INSIDE = Frame("system call (not broken down)", KERNEL)


def entered(frame: Frame) -> bool:
    """Whether a sample whose innermost frame this is was in the kernel."""
    return frame.part == "C library" and WRAPPER.fullmatch(frame.name) is not None
