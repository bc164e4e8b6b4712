"""`kohort` with a configuration file and an environment of its own."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from tests.cli.command import Answer, Kohort


@dataclass(kw_only=True)
class Rig:
    """The command, whose configuration directory is `home`."""

    kohort: Kohort
    home: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """The configuration file."""
        return self.home / "kohort" / "config.yaml"

    @property
    def environment(self) -> dict[str, str]:
        """What the command finds."""
        return {**self.kohort.env, "XDG_CONFIG_HOME": str(self.home), **self.env}

    def write(self, text: str | bytes, *, mode: int = 0o600) -> None:
        """Write the configuration file."""
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_bytes(text.encode() if isinstance(text, str) else text)
        self.file.chmod(mode)

    def __call__(self, *arguments: str | Path, stdin: str = "", **env: str) -> Answer:
        """Run it inside this process; `env` comes on top of the environment."""
        with (
            patch.dict(os.environ, self.environment | env, clear=True),
            patch.object(sys, "stdin", io.StringIO(stdin)),
        ):
            return self.kohort.quick(*arguments)
