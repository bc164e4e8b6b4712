"""What Kohort does with the code of a custom assignor: it limits its time, checks what it returns, and reports in its
name whatever it raises. In a program's main thread on Unix a method that runs too long is interrupted between two
instructions of Python: a call into a library of C ends first. In other threads there is no limit."""

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType

from assignors.assignor import Assignor
from assignors.conversation import (
    ApplicationState,
    AssignorMetadata,
    GroupMetadata,
    MemberAssignment,
    MemberAssignor,
)
from assignors.errors import AssignmentRule, AssignorError, BrokenAssignorError, RuleBrokenError
from assignors.model import DenseGroup, Result
from assignors.rules import check


def guarded(assignor: Assignor) -> Assignor:
    """The same assignor; whatever is wrong with it is a BrokenAssignorError, a RuleBrokenError for its assignments."""

    def assign(group: DenseGroup) -> Result:
        with _reported(assignor, "assign"):
            result = assignor.assign(group)
        if not isinstance(result, Result):
            raise BrokenAssignorError(assignor.name, f"assign returned {result!r}, not a Result")
        check(assignor, result.assignment)
        members = {member.id for member in group.spec.members}
        for member, data in result.user_data.items():
            if member not in members:
                raise RuleBrokenError(assignor.name, AssignmentRule.NON_MEMBER, f"user data to {member}")
            _check_bytes(assignor, "assign", data)
        return result

    has_own = assignor.at_member is not MemberAssignor
    at_member = partial(_guarded_member, assignor) if has_own else assignor.at_member
    return replace(assignor, assign=assign, at_member=at_member)


def _guarded_member(assignor: Assignor, state: ApplicationState) -> MemberAssignor:
    with _reported(assignor, "at_member"):
        member = assignor.at_member(state)
    if not isinstance(member, MemberAssignor):
        raise BrokenAssignorError(assignor.name, f"at_member returned {member!r}, not a MemberAssignor")
    return _GuardedMember(assignor, member)


class _GuardedMember(MemberAssignor):
    def __init__(self, assignor: Assignor, member: MemberAssignor) -> None:
        self._assignor, self._member = assignor, member

    def subscription_user_data(self, topics: Sequence[str], /) -> bytes | None:
        with _reported(self._assignor, "subscription_user_data"):
            data = self._member.subscription_user_data(topics)
        if data is not None:
            _check_bytes(self._assignor, "subscription_user_data", data)
        return data

    def on_assignment(self, assignment: MemberAssignment, group: GroupMetadata, /) -> None:
        with _reported(self._assignor, "on_assignment"):
            self._member.on_assignment(assignment, group)

    def metadata(self, topics: Sequence[str], /) -> AssignorMetadata:
        with _reported(self._assignor, "metadata"):
            metadata = self._member.metadata(topics)
        if not isinstance(metadata, AssignorMetadata):
            message = f"metadata returned {metadata!r}, not an AssignorMetadata"
            raise BrokenAssignorError(self._assignor.name, message)
        return metadata


def _check_bytes(assignor: Assignor, method: str, data: object) -> None:
    if not isinstance(data, bytes):
        raise BrokenAssignorError(assignor.name, f"{method} returned user data {data!r}, not bytes")


class _TimeIsUp(BaseException):
    """No Exception: the code that it stops may handle all of these."""


@contextmanager
def _reported(assignor: Assignor, method: str) -> Iterator[None]:
    try:
        with _limited(assignor.time_limit_s):
            yield
    except _TimeIsUp:
        message = f"{method} did not return within {assignor.time_limit_s:g} s"
        raise BrokenAssignorError(assignor.name, message) from None
    except AssignorError:
        raise
    except Exception as error:  # The code is not Kohort's: it may raise anything.
        where = _place(error.__traceback__)
        message = f"{method} raised {type(error).__name__}: {error}{where}"
        raise BrokenAssignorError(assignor.name, message) from error


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _TimeIsUp

    former = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def _place(traceback: TracebackType | None) -> str:
    """Where it was raised: file and line of the innermost call."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return ""
    return f" ({Path(traceback.tb_frame.f_code.co_filename).name}, line {traceback.tb_lineno})"
