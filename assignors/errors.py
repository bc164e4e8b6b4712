"""The errors of assignors. A signal between two functions does not derive from the root."""

from __future__ import annotations

from enum import Enum


class AssignorError(Exception):
    """No assignment can be computed; the message says why."""


class UnknownAssignorError(AssignorError, LookupError):
    """There is no such assignor; the message lists the existing ones and the nearest name."""


class AssignorFailedError(AssignorError):
    """The real assignor would throw here; the message is its exception's."""


class AssignorHangsError(AssignorFailedError):
    """The real assignor would never return: the leader misses its group until it is removed."""


class NoCommonProtocolError(AssignorError):
    """Members, or the assignors of one member, have nothing in common."""


class Rule(Enum):
    """What an assignment must not do."""

    TWICE = "a partition is assigned twice"
    NON_MEMBER = "a partition is assigned to a member that is not in the group"
    NON_SUBSCRIBER = "a partition is assigned to a member that does not subscribe to its topic"
    NO_SUCH_PARTITION = "a partition that does not exist is assigned"
    HANDED_OVER = "a partition is assigned to a new owner before the old one has revoked it (KIP-429)"


class RuleBrokenError(AssignorError):
    """A custom assignor broke a rule."""

    def __init__(self, assignor: str, rule: Rule, detail: str) -> None:
        super().__init__(f"assignor {assignor!r}: {rule.value}: {detail}")
        self.assignor, self.rule, self.detail = assignor, rule, detail
