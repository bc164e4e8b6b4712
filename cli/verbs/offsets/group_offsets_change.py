"""What every change of committed offsets has in common, whether they are set or deleted (`cli.changing.Change`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

from cli.changing import summed
from cli.counts import counted
from cli.sources.writer import ClusterWriter
from cli.verbs.offsets.view import Outcome
from groups.model import Problem


class GroupPlan(Protocol):
    """What is to become of one group's offsets, all of it or nothing."""

    @property
    def group(self) -> str: ...

    @property
    def applicable(self) -> bool:
        """Whether there is something to send, and nothing speaks against it."""
        ...

    @property
    def refusals(self) -> tuple[Problem, ...]:
        """What keeps the cluster from taking it."""
        ...

    @property
    def count(self) -> int:
        """How many offsets."""
        ...


P = TypeVar("P", bound=GroupPlan)


@dataclass(slots=True, kw_only=True)
class GroupOffsetsChange(ABC, Generic[P]):
    """A change of the committed offsets of groups."""

    verb: ClassVar[str]
    """What is done, in the infinitive."""
    did: ClassVar[str]
    """What was done."""
    what: ClassVar[str] = "offset"
    """One of what it is done to."""

    plans: tuple[P, ...]
    problems: tuple[Problem, ...]
    writer: ClusterWriter | None
    """None where it is only shown."""
    outcome: Outcome | None = None

    @property
    def is_empty(self) -> bool:
        return not self.going

    @property
    def going(self) -> list[P]:
        """The plans that are carried out."""
        return [plan for plan in self.plans if plan.applicable]

    @property
    def question(self) -> str:
        going = self.going
        of = going[0].group if len(going) == 1 else f"{len(going)} groups"
        return f"{self.verb} {counted(sum(plan.count for plan in going), self.what)} of {of}"

    @property
    def refused(self) -> bool:
        said = (failed for places in (self.outcome or {}).values() for failed in places.values())
        return any(plan.refusals for plan in self.plans) or any(each and each.refused for each in said)

    @property
    def done(self) -> str | None:
        counts = {
            group: sum(failed is None for failed in places.values())
            for group, places in (self.outcome or {}).items()
        }
        return summed(self.did, counts, "offset")

    def apply(self) -> None:
        if self.writer is None:
            raise ValueError("a change without a writer is only shown")
        self.outcome = self.send(self.writer)

    @abstractmethod
    def send(self, writer: ClusterWriter) -> Outcome:
        """Have the cluster do it."""
