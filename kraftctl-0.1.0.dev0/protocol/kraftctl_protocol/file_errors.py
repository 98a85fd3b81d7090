"""The texts of errors of files: the errno decides the next step, and only this module says which.

A text names what was tried, the path, the reason and the next step. The file may be the only copy of its
data, so no next step removes anything or starts from an empty directory.
"""

from __future__ import annotations

import errno
from typing import Final

LOOK_AT_THE_DISK: Final = (
    "look for the device in the kernel log (dmesg) and check it; leave its files as they are, they may still"
    " be readable. If the disk is lost, docs/operations/lost-disk.md says how this node is replaced"
)
MAKE_ROOM: Final = (
    "make room on its file system or enlarge it (df -h, df -i); leave the files of the controller as they are"
)
GIVE_ACCESS: Final = (
    "let the account that runs this process use it: check owner, mode and security labels of the file and of"
    " every directory above it (namei -l); what is in it is not lost"
)
ATTACH_THE_DISK: Final = "check that the disk is attached and its file system mounted (findmnt, dmesg)"
CHECK_THE_FILE_SYSTEM: Final = (
    "the file system is damaged: copy what can be read, then unmount it and check it (fsck)"
)
EUCLEAN: Final = 117
"""Only Linux has this errno, and only there Python has its name."""

NEXT_STEPS: Final[dict[int, str]] = {
    errno.ENOSPC: MAKE_ROOM,
    errno.EDQUOT: "raise the quota of the account that runs this process on that file system, or make room",
    errno.EFBIG: "raise the limit of the size of files (ulimit -f, LimitFSIZE) of this process",
    errno.EACCES: GIVE_ACCESS,
    errno.EPERM: f"{GIVE_ACCESS}. The file may also be immutable (lsattr)",
    errno.EROFS: "mount the file system for writing; if it was, the kernel made it read-only after an error"
    " of the disk, which the kernel log (dmesg) names",
    errno.EIO: LOOK_AT_THE_DISK,
    EUCLEAN: CHECK_THE_FILE_SYSTEM,
    errno.EBADMSG: CHECK_THE_FILE_SYSTEM,
    errno.ENXIO: ATTACH_THE_DISK,
    errno.ENODEV: ATTACH_THE_DISK,
    errno.ENOTCONN: ATTACH_THE_DISK,
    errno.ESTALE: "mount the network file system again; a disk of this machine is the better place for a log",
    errno.ETIMEDOUT: "check the network file system; a disk of this machine is the better place for a log",
    errno.ELOOP: "correct the symbolic links in this path, which lead back to themselves (namei -l)",
    errno.ENOTDIR: "correct the path: a part of it that should be a directory is a file (namei -l)",
    errno.EISDIR: "correct the path: it leads to a directory where a file is expected (ls -ld)",
    errno.ENOENT: "see that the path exists, and that its file system is mounted (findmnt)",
    errno.EEXIST: "find out what has made it, and stop that if it is another process of this node",
    errno.ENAMETOOLONG: "choose a shorter path",
    errno.EMFILE: "raise the limit of open files of this process (ulimit -n, LimitNOFILE)",
    errno.ENFILE: "raise the limit of open files of this machine (sysctl fs.file-max)",
    errno.ENOMEM: "give this process, or its machine, more memory",
    errno.EBUSY: "find out what else uses it, and end that",
    errno.ETXTBSY: "find out what else uses it, and end that",
    errno.ENOLCK: "use a file system that has locks: a disk of this machine, not a network file system",
    errno.EOPNOTSUPP: "use an ordinary file system of this machine (ext4, XFS): this one lacks the call",
    errno.ENOSYS: "use an ordinary file system of this machine (ext4, XFS): this one lacks the call",
    errno.EINVAL: "use an ordinary file, on an ordinary file system of this machine (ext4, XFS)",
    errno.EAGAIN: "let what should write to it do so, or use an ordinary file",
    errno.E2BIG: "name the right file: this one is too long for its use",
    errno.EXDEV: "let the whole directory be on one file system, without mounts or links in it (findmnt)",
}

OTHERWISE: Final = "check the file system and its disk (findmnt, dmesg); leave the files as they are"

PATH_IS_WRONG: Final = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG)


def file_error(action: str, path: object, error: OSError, *, note: str = "", named_by: str = "") -> str:
    """Returns `cannot ACTION PATH: REASON. NOTE Next step: ...`.

    `action` is a verb: open, read, write. `note` has whole sentences about the consequences. `named_by` is
    the configuration key or the argument that names the path, which has to be corrected if it is wrong.
    """
    what = f"cannot {action} {path}: {reason_of(error)}."
    step = next_step_of(error, named_by)
    return f"{what} {note} {step}" if note else f"{what} {step}"


def reason_of(error: OSError) -> str:
    """Returns the text of the system, without number and path."""
    return (error.strerror or str(error) or type(error).__name__).rstrip(".")


def next_step_of(error: OSError, named_by: str = "") -> str:
    """Returns the sentence `Next step: ...` for an errno."""
    number = error.errno
    step = OTHERWISE if number is None else NEXT_STEPS.get(number, OTHERWISE)
    if named_by and number in PATH_IS_WRONG:
        step = f"check {named_by}: {step}"
    return f"Next step: {step}."


def unplaced_error(error: OSError) -> str:
    """Returns the text of an error when only the error itself says which file it is about."""
    path = error.filename if error.filename is not None else "a file"
    if error.strerror is None:
        return str(error)
    return file_error("use", path, error)
