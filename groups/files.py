"""Files that are replaced as a whole: at every moment, a reader sees the old file or the complete new one."""

import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_STREAMS = ("/dev/std", "/dev/fd/", "/proc/")  # of open files: the caller's shell continues to write to them


def replace_file(
    file: Path,
    parts: Iterable[str],
    *,
    newline: str | None = None,
    new: bool = False,
    mode: int | None = None,
) -> None:
    """Replace a file at once, with the old one's permissions or `mode`. FileExistsError if it must be `new`."""
    target = _target(file)
    if new and file.exists():
        raise FileExistsError(file)
    try:
        if target is None:
            raise PermissionError
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:200]}.", dir=target.parent)
    except PermissionError:
        with file.open("x" if new else "w", encoding="utf-8", newline=newline) as stream:
            stream.writelines(parts)
        return
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline=newline) as stream:
            stream.writelines(parts)
            stream.flush()
            _set_permissions(target, handle, mode)
            os.fsync(handle)
        if new:
            os.link(temporary, target)
            os.unlink(temporary)
        else:
            os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _target(file: Path) -> Path | None:
    """The regular file to replace, which need not exist; None if it must be written directly."""
    path = file.absolute()
    for _ in range(40):  # as many links as Linux follows
        if str(path).startswith(_STREAMS):
            return None
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return None if path.exists() and not path.is_file() else path


def _set_permissions(target: Path, handle: int, mode: int | None) -> None:
    try:
        before = target.stat()
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(handle, 0o666 & ~mask if mode is None else mode)
        return
    with suppress(PermissionError):  # only root gives files away
        os.fchown(handle, -1, before.st_gid)
        os.fchown(handle, before.st_uid, -1)
    os.fchmod(handle, stat.S_IMODE(before.st_mode))
