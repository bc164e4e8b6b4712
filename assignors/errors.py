"""The errors of assignors. Exceptions that only pass between two functions do not derive from AssignorError."""

from enum import Enum


class AssignorError(Exception):
    """No assignment can be computed; the message says why."""


class UnknownAssignorError(AssignorError, LookupError):
    """There is no such assignor; the message lists the existing ones and the nearest name."""


class AssignorFailedError(AssignorError):
    """The real assignor would throw here; the message is that of its exception. In KIP-848's client side all members
    get the `code`, which is the assignor's own."""

    code = 1

    def __init__(self, message: str, code: int = code) -> None:
        super().__init__(message)
        self.code = code


class AssignorHangsError(AssignorFailedError):
    """The real assignor would never return: the group gets no assignment until its leader is removed."""


class NoCommonProtocolError(AssignorError):
    """Members have no assignor in common, or the assignors of one member have no rebalance protocol in common."""


class AssignmentRule(Enum):
    """A rule that an assignment can break; the value describes the violation."""

    TWICE = "a partition is assigned twice"
    NON_MEMBER = "a partition is assigned to a member that is not in the group"
    NON_SUBSCRIBER = "a partition is assigned to a member that does not subscribe to its topic"
    NO_SUCH_PARTITION = "a partition that does not exist is assigned"
    HANDED_OVER = "a partition is assigned to a new owner before the old one has revoked it (KIP-429)"
    INCOMPLETE = "a partition is assigned to no member (KIP-848: INVALID_ASSIGNMENT)"


class BrokenAssignorError(AssignorError):
    """A custom assignor cannot be imported, raised, did not return in time, or returned what no assignor may."""

    def __init__(self, assignor: str, message: str) -> None:
        super().__init__(f"assignor {assignor!r}: {message}")
        self.assignor, self.message = assignor, message

    def __reduce__(self) -> tuple[type[AssignorError], tuple[object, ...]]:
        return type(self), (self.assignor, self.message)


class RuleBrokenError(BrokenAssignorError):
    """An assignment of a custom assignor breaks a rule."""

    def __init__(self, assignor: str, rule: AssignmentRule, detail: str) -> None:
        super().__init__(assignor, f"{rule.value}: {detail}")
        self.rule, self.detail = rule, detail

    def __reduce__(self) -> tuple[type[AssignorError], tuple[object, ...]]:
        return type(self), (self.assignor, self.rule, self.detail)
