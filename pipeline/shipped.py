"""Kohort's packages as one file, for workers that have only its dependencies installed."""

from __future__ import annotations

import importlib.util
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path

PACKAGES = ("assignors", "wire", "groups", "coordinator", "migration", "pipeline")
"""What workers import; they need numpy, pyarrow, kio and the like, but not Kohort."""
_LEFT_OUT = {"__pycache__"}
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip can tell: equal packages give equal bytes."""


def root() -> Path:
    """The directory that the packages are in: site-packages, or a checkout."""
    return Path(__file__).resolve().parent.parent


def ship(archive: Path) -> Path:
    """Write the packages to a file that workers import from.

    Modules are compiled, too: a worker cannot keep what it compiles from a zip and would do it again and again.
    """
    base = root()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for package in PACKAGES:
            for file in sorted((base / package).rglob("*")):
                if file.is_file() and not _LEFT_OUT.intersection(file.parts):
                    name = file.relative_to(base)
                    _add(packed, str(name), file.read_bytes())
                    if file.suffix == ".py":
                        _add(packed, str(name.with_suffix(".pyc")), _compiled(file, str(name)))
    return archive


def _add(packed: zipfile.ZipFile, name: str, content: bytes) -> None:
    packed.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)


def _compiled(file: Path, name: str) -> bytes:
    """A .pyc that is taken as it is (PEP 552: flags 1, unchecked hash of the source)."""
    import marshal

    source = file.read_bytes()
    code = SourceFileLoader(name, str(file)).source_to_code(source, name)
    return (
        importlib.util.MAGIC_NUMBER
        + (1).to_bytes(4, "little")
        + importlib.util.source_hash(source)
        + marshal.dumps(code)
    )
