"""What a completion script asks: `kohort _complete KIND [OPTION VALUE]… -- [ARGUMENT]…`.

The script has taken the words apart already: OPTION is one of those that say where groups come from, in its long
form, and the arguments are those typed before the word that is completed, without their quotes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

PATHS = {
    "--command-config": "command_config",
    "--snapshot": "snapshot",
    "--embedded": "embedded",
    "--topics": "topics_file",
}
"""Options that name a file or directory, and the fields of `cli.options.SourceOptions` that they fill."""
TEXTS = {"--bootstrap-server": "bootstrap_server", "--context": "context", "--as-of": "as_of"}
SOURCE_OPTIONS = (*TEXTS, *PATHS, "--log-dir")
"""What a script hands on. `--timeout` is not among them: completion has a shorter one of its own."""


class Question(NamedTuple):
    """`options` as they were typed, in order; `arguments` are those before the word that is completed.

    Neither a dataclass nor Path: to import these takes a tenth of the time there is.
    """

    kind: str
    options: tuple[tuple[str, str], ...]
    arguments: tuple[str, ...]

    @property
    def log_dirs(self) -> list[str]:
        """The values of `--log-dir`."""
        return [value for option, value in self.options if option == "--log-dir"]

    @property
    def named(self) -> Mapping[str, str]:
        """The other options; the last one counts, as it does for the commands."""
        return {option: value for option, value in self.options if option != "--log-dir"}

    @property
    def needs(self) -> tuple[str, ...]:
        """The arguments that the answer depends on."""
        return self.arguments if self.kind.startswith(("members", "settings")) else ()


def parse_question(words: Sequence[str]) -> Question:
    """From the words behind `_complete`; ValueError where no script wrote them."""
    kind, *rest = words
    end = rest.index("--")
    told = rest[:end]
    if len(told) % 2 or not set(told[::2]) <= set(SOURCE_OPTIONS):
        raise ValueError(told)
    options = tuple(zip(told[::2], told[1::2], strict=True))
    return Question(kind=kind, options=options, arguments=tuple(rest[end + 1 :]))


def identity(question: Question, environment: Mapping[str, str]) -> str:
    """A text that differs wherever the answer may: source, environment, and the state of the files that are named."""
    settings = sorted(
        (name, value)
        for name, value in environment.items()
        if name.startswith("KOHORT_") or name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
    )
    files = [value for option, value in question.options if option in PATHS or option == "--log-dir"]
    config = environment.get("XDG_CONFIG_HOME") or os.path.join(environment.get("HOME", ""), ".config")
    files.append(os.path.join(config, "kohort", "config.yaml"))
    stamps = [_stamp(file) for file in files]
    return repr((question.kind, question.options, question.needs, os.getcwd(), settings, stamps))


def _stamp(file: str) -> tuple[int, int]:
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
