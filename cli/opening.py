"""Opening the source that the options name, for one answer or for many, and printing what it has to say.

Sources keep their notices as values; here they reach stderr, each once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cli.errors import CommandError, ExitStatus
from cli.options import SourceOptions
from cli.output import notice
from cli.sources.choose import is_live, source_of
from cli.sources.source import Source

if TYPE_CHECKING:
    from cli.sources.writer import ClusterWriter


@contextmanager
def opened(options: SourceOptions) -> Iterator[Source]:
    """The source that the options name, closed in the end; UsageError when they name several.

    What it has to say is printed when it has been opened, and in the end.
    """
    with closing(_open(options)) as source:
        print_notices(source)
        try:
            yield source
        finally:
            print_notices(source)


@contextmanager
def opened_for_change(
    options: SourceOptions, *, execute: bool
) -> Iterator[tuple[Source, ClusterWriter | None]]:
    """The source that the options name, and its writer where a change is to be made, not only shown.

    :raises UsageError: the options name several sources, or one that can only be read
    """
    from cli.sources.writer import writer_of

    with opened(options) as source:
        yield source, writer_of(source) if execute else None


def print_notices(source: Source) -> None:
    """Print what a source has to say and has not said yet."""
    for text in source.notices.take():
        notice(text)


def _open(options: SourceOptions) -> Source:
    try:
        return source_of(options)
    except Exception:
        if options.place is not None:
            notice(f"this is about {options.place}")
        raise


class LastingSource:
    """A source that is read again and again: a live one stays open in between, a file is read anew.

    Opens what the options name when it is first needed, and again after `close`. Use it in a `with` block.
    """

    def __init__(self, options: SourceOptions) -> None:
        self.options, self.is_live = options, is_live(options)
        self.name = options.bootstrap_server or "the cluster"
        self._source: Source | None = None
        self._said: set[str] = set()
        self._was_open = False

    def get(self) -> Source:
        """An open source."""
        if self._source is not None and self.is_live:
            return self._source
        self.close()
        self._source = source_of(self.options) if self._was_open else _open(self.options)
        self._was_open = True
        self.print_notices()
        return self._source

    def print_notices(self) -> None:
        """Print what the source has to say and did not say before, also when it was opened earlier."""
        for text in () if self._source is None else self._source.notices.take():
            if text not in self._said:
                notice(text)
            self._said.add(text)

    def may_pass(self, error: Exception) -> bool:
        """Whether it may pass by itself: a coordinator that loads, a broker that restarts. Of a file nothing does."""
        from wire.client.errors import (
            AuthenticationFailed,
            InvalidAddress,
            TlsFailed,
            UnsupportedApi,
            UnsupportedMechanism,
            WireError,
        )

        if isinstance(error, CommandError):
            return self.is_live and error.status is ExitStatus.UNREADABLE
        lasting = (AuthenticationFailed, InvalidAddress, TlsFailed, UnsupportedApi, UnsupportedMechanism)
        return self.is_live and isinstance(error, WireError) and not isinstance(error, lasting)

    def close(self) -> None:
        """Give connections back."""
        source, self._source = self._source, None
        if source is not None:
            source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.print_notices()
        self.close()
