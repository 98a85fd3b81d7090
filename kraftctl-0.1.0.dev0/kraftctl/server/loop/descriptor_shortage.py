"""Too many files are open: nothing is wrong with the disk, and what needs a descriptor is tried again."""

from __future__ import annotations

import errno

DESCRIPTOR_RETRY_SECONDS = 1.0
"""Until a vote or snapshot is written again that there was no descriptor for; nothing is promised before."""


def is_out_of_descriptors(error: BaseException | None) -> bool:
    """Whether a file could not be opened because too many are open."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return True
        # In compiled code, `raise ... from` sets the context only.
        error = error.__cause__ or error.__context__
    return False
