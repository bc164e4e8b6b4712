"""What could not be read, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Cause(Enum):
    """Why something could not be read."""

    UNREAD = "unread"
    """Whoever knows it did not answer, or not so that it can be understood: it may be there."""
    ABSENT = "absent"
    """Whoever knows it says that it does not exist."""
    FORBIDDEN = "forbidden"
    """The cluster refuses to tell this user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that could not be read: it travels beside what could."""

    subject: str
    message: str
    cause: Cause = Cause.UNREAD
