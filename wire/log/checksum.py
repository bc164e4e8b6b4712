"""CRC-32C, the checksum of batches. The extension of the package crc32c is loaded without the package, whose import
reads the metadata of all installed packages to find its version: that takes longer than reading a small log."""

from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader, PathFinder
from typing import TypeAlias

Checksum: TypeAlias = Callable[..., int]  # CRC-32C of bytes, given that of the bytes before

_PACKAGE = "crc32c"
_EXTENSION = "_crc32c"


def _load() -> Checksum:
    package = PathFinder.find_spec(_PACKAGE)
    places = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec(_EXTENSION, places) if places else None
    if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
        from crc32c import crc32c as imported

        return imported
    extension = spec.loader.create_module(spec)
    spec.loader.exec_module(extension)
    function: Checksum = extension.crc32c
    return function


crc32c = _load()
