"""The entry of a running command: who changes what, where, and how it is undone."""

import getpass
import os
import re
import shlex
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cli.consent import ConsentOptions
from cli.errors import CommandError
from cli.journal.directory import journal_directory
from cli.journal.entry import ChangedItem, EntryStatus, ItemOutcome, ItemResult, JournalEntry
from cli.journal.reversible import is_reversible
from cli.journal.writer import JournalFile, OpenEntry, new_id, now_text
from cli.options import SourceOptions
from cli.output import notice
from cli.sources.contexts.model import is_secret
from cli.sources.live import LiveSource
from cli.sources.source import Source
from cli.stopping import NOTHING_DONE, Stop
from wire.errors import WireError

AGENT_VARIABLE = "KOHORT_AGENT"  # The name of the agent for which `kohort mcp` runs a command
HIDDEN = "***"
_NAME = r"[\w.-]*(?:password|passwd|passphrase|secret|token|credential|api[._-]?key)[\w.-]*"
_PAIR = re.compile(rf"({_NAME}\s*[=:]\s*|--?{_NAME}\s+)(\"[^\"]*\"|'[^']*'|\S+)", re.IGNORECASE)
_OPTION = re.compile(rf"--?{_NAME}", re.IGNORECASE)
_OF_FILES = ("-file", "-env")  # The ends of options that refer to a secret
_COMMAND = "--restart"  # Its value is an operator's command, which may contain any secret
_USER_INFO = re.compile(r"://[^/\s@]*@")


def open_journal(consent: ConsentOptions) -> JournalFile | None:
    """The file for an entry; None if the change gets none. Raises NotJournaled. Raises UsageError."""
    directory = None if consent.no_journal else journal_directory(consent.journal)
    return None if directory is None else JournalFile(directory, host_name())


class ChangeRecord:
    """The entry of one change of a cluster. Without `consent` or without a journal, nothing is written."""

    def __init__(
        self, consent: ConsentOptions | None, target: Source | None, undoes: str | None = None
    ) -> None:
        """Open the journal, before anyone is asked. Raises NotJournaled. Raises UsageError."""
        self._consent, self._target, self._undoes = consent, target, undoes
        self._file = None if consent is None else open_journal(consent)
        self._undo: str | None = None

    @contextmanager
    def of(
        self, verb: str, items: Sequence[ChangedItem], results: Callable[[], Sequence[ItemResult]], stop: Stop
    ) -> Iterator[None]:
        """Around a change: the beginning of the entry before, the end after it. Raises NotJournaled. Raises
        WireError."""
        if self._file is None or self._consent is None or self._target is None:
            yield
            return
        try:
            entry = begin(self._file, verb, items, self._target, self._consent.target, self._undoes)
        except WireError:
            notice(NOTHING_DONE)
            raise
        made: Sequence[ItemResult] = [ItemResult(result=ItemOutcome.UNKNOWN)] * len(items)
        try:
            yield
            made = results()
        except (WireError, CommandError) as error:
            made = [ItemResult(result=ItemOutcome.FAILED, message=str(error))] * len(items)
            raise
        finally:
            is_done = all(result.result is ItemOutcome.DONE for result in made)
            status = EntryStatus.DONE if is_done else EntryStatus.FAILED
            if (failed := entry.end(EntryStatus.STOPPED if stop.number else status, made)) is not None:
                notice(failed)
        if is_reversible(zip(items, made, strict=True)):
            self._undo = undo_command(entry.id, self._consent)

    def show_undo(self) -> None:
        if self._undo is not None:
            notice(self._undo, lead="Undo: ")


def begin(
    file: JournalFile,
    verb: str,
    items: Sequence[ChangedItem],
    target: Source,
    options: SourceOptions | None = None,
    undoes: str | None = None,
) -> OpenEntry:
    """Write the beginning of an entry; `options` name the target. Raises NotJournaled. Raises WireError."""
    origin = None if options is None else options.place
    entry = JournalEntry(
        id=new_id(),
        at=now_text(),
        user=user_name(),
        host=host_name(),
        pid=os.getpid(),
        cluster=target.cluster_id() if isinstance(target, LiveSource) else None,
        context=None if origin is None else origin.name,
        servers=target.name,
        agent=os.environ.get(AGENT_VARIABLE) or None,
        command=without_secrets((Path(sys.argv[0]).name, *sys.argv[1:])),
        verb=verb,
        items=_with_topic_ids(target, items),
        undoes=undoes,
    )
    return OpenEntry(file, entry)


def undo_command(entry: str, consent: ConsentOptions) -> str:
    """`kohort undo 4F2A91C3`, with what the command line named of the journal and the cluster."""
    words = ["kohort", "undo", entry]
    if consent.journal is not None:
        words += ["--journal", str(consent.journal)]
    return shlex.join([*words, *_named_source(consent.target)])


def _named_source(target: SourceOptions | None) -> list[str]:
    """The options that name the cluster again; none if the environment or the current context names it."""
    if target is None or (target.place is not None and not target.place.is_typed):
        return []
    if target.place is not None and target.place.name is not None:
        return ["--context", target.place.name]
    words = [] if target.bootstrap_server is None else ["-b", target.bootstrap_server]
    return (
        words if target.command_config is None else [*words, "--command-config", str(target.command_config)]
    )


def _with_topic_ids(target: Source, items: Sequence[ChangedItem]) -> tuple[ChangedItem, ...]:
    """The items with the ids of their topics, without which an undo could not see that a topic was replaced."""
    names = {item.topic for item in items if item.topic is not None and item.topic_id is None}
    if not names:
        return tuple(items)
    ids = {topic.name: topic.id for topic in target.topics(names, end_offsets=False).items}
    return tuple(
        replace(item, topic_id=ids.get(item.topic))
        if item.topic is not None and item.topic in names
        else item
        for item in items
    )


def user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # A user without a name, as in containers
        return str(os.getuid())


def host_name() -> str:
    return socket.gethostname()


def without_secrets(words: Iterable[str]) -> tuple[str, ...]:
    """The words of a command line; a value that follows the name of a secret is hidden, in `NAME=VALUE` too."""
    return tuple(_hidden(words))


def _hidden(words: Iterable[str]) -> Iterator[str]:
    follows_name = False
    for word in words:
        name, equals, _ = word.partition("=")
        if follows_name:
            yield HIDDEN
        elif equals and " " not in name and (name == _COMMAND or is_secret(name.lower(), "")):
            yield f"{name}={HIDDEN}"
        else:
            yield HIDDEN if "PRIVATE KEY" in word else _text(word)
        follows_name = word == _COMMAND or bool(_OPTION.fullmatch(word) and not word.endswith(_OF_FILES))


def _text(word: str) -> str:
    text = _PAIR.sub(lambda match: f"{match[1]}{HIDDEN}", word)
    return _USER_INFO.sub(f"://{HIDDEN}@", text)
