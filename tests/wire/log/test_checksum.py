"""CRC-32C: the extension that is loaded by itself, and the package where that cannot be."""

import subprocess
import sys
from importlib.machinery import PathFinder

import crc32c as package
import pytest

from wire.log import checksum


def test_it_is_the_checksum_of_rfc_3720() -> None:
    assert checksum.crc32c(bytes(32)) == 0x8A9136AA
    assert checksum.crc32c(b"6789", checksum.crc32c(b"12345")) == checksum.crc32c(b"123456789") == 0xE3069283
    assert checksum.crc32c(memoryview(b"123456789")) == 0xE3069283


def test_the_package_around_it_is_not_imported() -> None:
    code = "import sys; import wire.log.checksum; print('crc32c' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_the_extension_the_package_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathFinder, "find_spec", lambda name, path=None: None)
    assert checksum._load() is package.crc32c
