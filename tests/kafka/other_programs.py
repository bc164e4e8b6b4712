"""Build the consumers of Go and Node.js that the tests run, once, into the user's cache."""

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from pipeline.sources.jars import filled
from tests.kafka.process import run_tool

HERE = Path(__file__).parent


class ProgramUnavailableError(Exception):
    """A toolchain or one of its packages is missing; the message says which."""


def go_program(name: str) -> tuple[str, ...]:
    """Return the command of the program in the folder `go/NAME`; `go/go.mod` has the versions of libraries."""
    return (str(_built("go", ("go", "build", "-mod=readonly", "-o", "bin/", "./...")) / "bin" / name),)


def node_program(name: str) -> tuple[str, ...]:
    directory = _built("node", ("npm", "ci", "--no-audit", "--no-fund"))
    return _found("node"), str(directory / name)


def _built(folder: str, command: Sequence[str]) -> Path:
    sources = HERE / folder
    files = sorted(path for path in sources.rglob("*") if path.is_file())
    stamp = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]

    def fill(directory: Path) -> None:
        shutil.copytree(sources, directory)
        run_tool(
            [_found(command[0]), *command[1:]], " ".join(command), ProgramUnavailableError, cwd=directory
        )

    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return filled(Path(home) / "kohort" / folder / stamp, fill)


def _found(tool: str) -> str:
    path = shutil.which(tool)
    if path is None:
        raise ProgramUnavailableError(f"no {tool} on PATH")
    return path
