"""The source of a command if a context or the environment names it, not the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cli.sources.contexts.inline import InlineProperties
    from cli.sources.contexts.model import Context
    from wire.client.security import ConnectionSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOrigin:
    """A source, and the option, variable or file that named it."""

    where: str  # Bootstrap servers, or paths
    named_by: str  # `--context`, `KOHORT_CONTEXT`, `the current one of FILE`, `KOHORT_BOOTSTRAP_SERVER`…
    is_typed: bool  # Whether the command line itself named it
    context: Context | None = None

    @property
    def name(self) -> str | None:
        return None if self.context is None else self.context.name

    @property
    def cluster_id(self) -> str | None:
        return None if self.context is None else self.context.cluster_id

    @property
    def is_protected(self) -> bool:
        return self.context is not None and self.context.protected

    @property
    def warning(self) -> str | None:
        return None if self.context is None else self.context.warning

    def __str__(self) -> str:
        if self.context is None:
            return f"{self.where} ({self.named_by})"
        protected = ", protected" if self.is_protected else ""
        return f"the context {self.name} ({self.named_by}{protected}): {self.where}"

    def settings(self) -> ConnectionSettings | None:
        """The settings of the context's own properties, with secrets; None if it has none. Raises ConfigFileError."""
        return None if self.properties is None else self.properties.settings()

    @property
    def properties(self) -> InlineProperties | None:
        if self.context is None or not self.context.properties:
            return None
        from cli.sources.contexts.inline import InlineProperties

        return InlineProperties(self.context)
