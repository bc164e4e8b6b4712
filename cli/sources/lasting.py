"""A source that is looked at again and again: a live one stays open from look to look, a file is read anew."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr
from types import TracebackType
from typing import Self

from cli.errors import CommandError, ExitStatus
from cli.options import SourceOptions
from cli.sources.choose import open_source
from cli.sources.source import Source
from wire.client.errors import (
    AuthenticationFailed,
    InvalidAddress,
    TlsFailed,
    UnsupportedApi,
    UnsupportedMechanism,
    WireError,
)

_NOT_BY_WAITING = (
    AuthenticationFailed,
    InvalidAddress,
    TlsFailed,
    UnsupportedApi,
    UnsupportedMechanism,
)


class LastingSource:
    """Opens what the options name when it is first wanted, and again after `close`. Use it in a `with` block."""

    def __init__(self, options: SourceOptions) -> None:
        self.options, self.is_live = options, is_live(options)
        self.name = options.bootstrap_server or "the cluster"
        self._opened: Iterator[Source] | None = None
        self._source: Source | None = None
        self._was_open = False

    def get(self) -> Source:
        """An open source."""
        if self._source is not None and self.is_live:
            return self._source
        self.close()
        with _unsaid() if self._was_open else nullcontext():
            self._opened = _opening(self.options)
            self._source = next(self._opened)
        self._was_open = True
        return self._source

    def may_pass(self, error: Exception) -> bool:
        """Whether it may pass by itself: a coordinator that loads, a broker that restarts. Of a file nothing does."""
        if isinstance(error, CommandError):
            return self.is_live and error.status is ExitStatus.UNREADABLE
        return self.is_live and isinstance(error, WireError) and not isinstance(error, _NOT_BY_WAITING)

    def close(self) -> None:
        """Give connections back."""
        opened, self._opened, self._source = self._opened, None, None
        if opened is not None:
            next(opened, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def is_live(options: SourceOptions) -> bool:
    """Whether the options name a cluster."""
    return bool(options.bootstrap_server or options.command_config)


def _opening(options: SourceOptions) -> Iterator[Source]:
    with open_source(options) as source:
        yield source


@contextmanager
def _unsaid() -> Iterator[None]:
    """What a source says of itself was said when it was opened first."""
    with redirect_stderr(io.StringIO()):
        yield
