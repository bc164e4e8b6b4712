"""`kohort` with its own configuration file and environment."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from tests.cli.command import Answer, Kohort, Word, words
from tests.support.terminals import on_terminal


@dataclass(kw_only=True)
class Rig:
    """The command, whose configuration directory is `home`."""

    kohort: Kohort
    home: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return self.home / "kohort" / "config.yaml"

    @property
    def directory(self) -> Path:
        return self.file.with_suffix(".d")

    @property
    def texts(self) -> dict[str, str]:
        return {file.name: file.read_text() for file in sorted(self.directory.iterdir())}

    @property
    def environment(self) -> dict[str, str]:
        return {**self.kohort.env, "XDG_CONFIG_HOME": str(self.home), **self.env}

    def write(self, text: str | bytes, *, mode: int = 0o600) -> None:
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_bytes(text.encode() if isinstance(text, str) else text)
        self.file.chmod(mode)

    def __call__(self, *arguments: Word, stdin: str = "", **env: str) -> Answer:
        """Run it inside this process; `env` comes on top of the environment."""
        with patch.dict(os.environ, self.environment, clear=True):
            return self.kohort.quick(*arguments, stdin=stdin, **env)

    def on_terminal(self, *arguments: str, answers: Sequence[str], **env: str) -> tuple[int, str]:
        """Run it on a separate terminal and answer its questions: status, and the terminal's contents."""
        begin = "import os, sys; os.login_tty(0); os.execv(sys.argv[1], sys.argv[1:])"
        shown = on_terminal(
            [sys.executable, "-c", begin, self.kohort.executable, *words(*arguments)],
            {**self.environment, **env, "TERM": "dumb"},
            answers=[f"{answer}\n" for answer in answers],
        )
        return shown.status, shown.terminal
