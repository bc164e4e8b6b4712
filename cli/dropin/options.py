"""What a command line of `kohort-consumer-groups` asks for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

DEFAULT_TIMEOUT_MS = 30_000


class Action(Enum):
    """What to do: exactly one of these flags is on every command line."""

    LIST = "list"
    DESCRIBE = "describe"
    DELETE = "delete"
    RESET_OFFSETS = "reset-offsets"
    DELETE_OFFSETS = "delete-offsets"
    VALIDATE_REGEX = "validate-regex"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Every flag of the tool, checked as the tool checks them. None, False and () mean: not given."""

    action: Action
    bootstrap_server: str = ""
    """Empty only where the action is VALIDATE_REGEX and no server was named."""
    command_config: Path | None = None
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    groups: tuple[str, ...] = ()
    """As often as `--group` was given, in that order; may name one twice."""
    all_groups: bool = False
    topics: tuple[str, ...] = ()
    """As typed: `orders` or `orders:0,1`."""
    all_topics: bool = False

    members: bool = False
    offsets: bool = False
    state: str | None = None
    """Of LIST: states to show, as typed. Empty where `--state` was given without them."""
    type: str | None = None
    """Of LIST: types to show, as typed. Empty where `--type` was given without them."""
    verbose: bool = False

    dry_run: bool = False
    execute: bool = False
    export: bool = False
    to_offset: int | None = None
    shift_by: int | None = None
    to_datetime: str | None = None
    by_duration: str | None = None
    to_earliest: bool = False
    to_latest: bool = False
    to_current: bool = False
    from_file: Path | None = None

    regex: str | None = None
    """What VALIDATE_REGEX is to judge."""

    @property
    def describe_state(self) -> bool:
        """Whether DESCRIBE is to show the state."""
        return self.action is Action.DESCRIBE and self.state is not None
