"""Where a command works when its command line has not said it all: what a context or the environment named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from cli.sources.contexts.inline import InlineProperties
    from cli.sources.contexts.model import Context
    from wire.client.security import ConnectionSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOrigin:
    """A source, and who named it."""

    where: str
    """Bootstrap servers, or paths."""
    named_by: str
    """`--context`, `KOHORT_CONTEXT`, `the current one of FILE`, `KOHORT_BOOTSTRAP_SERVER`…"""
    is_typed: bool
    """Whether this very command line named it."""
    context: Context | None = None
    file: Path | None = None
    """Where the context stands."""

    @property
    def name(self) -> str | None:
        """The context's name."""
        return None if self.context is None else self.context.name

    @property
    def cluster_id(self) -> str | None:
        """The id of the cluster that the context is for; None: it does not say."""
        return None if self.context is None else self.context.cluster_id

    @property
    def is_protected(self) -> bool:
        """Whether a change wants the context's name to be typed."""
        return self.context is not None and self.context.protected

    @property
    def warning(self) -> str | None:
        """What the user should know of the configuration file."""
        return None if self.context is None or self.file is None else self.context.warning(self.file)

    def __str__(self) -> str:
        if self.context is None:
            return f"{self.where} ({self.named_by})"
        protected = ", protected" if self.is_protected else ""
        return f"the context {self.name} ({self.named_by}{protected}): {self.where}"

    def settings(self) -> ConnectionSettings | None:
        """What the context's own properties say to a client, secrets among them; None where it has none.

        :raises ConfigFileError: a secret cannot be had, or a property makes no sense
        """
        own = self.properties
        return None if own is None else own.settings()

    @property
    def properties(self) -> InlineProperties | None:
        """The context's own properties, where it has any."""
        if self.context is None or self.file is None or not self.context.properties:
            return None
        from cli.sources.contexts.inline import InlineProperties

        return InlineProperties(path=self.file, context=self.context)
