"""A change of several kinds as one `Change`: its parts are made one after another."""

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from cli.changing import Change
from cli.committed_change import CommittedChange
from cli.errors import CommandError
from cli.journal.entry import ChangedItem, ItemResult
from cli.verbs.config.action import ConfigChange
from cli.verbs.delete.action import GroupDeletions
from cli.verbs.features.setting import FeaturesChange
from cli.verbs.offsets.change import OffsetsChange, OffsetsDeletions, merged
from groups.model import Problem
from wire.errors import WireError

Part: TypeAlias = ConfigChange | FeaturesChange | OffsetsChange | OffsetsDeletions | GroupDeletions


@dataclass(slots=True, kw_only=True)
class CombinedChange(Change, ABC):
    """A group with a foreseeable obstacle is not changed at all; after a failure, its other changes are skipped."""

    why_held: ClassVar[str] = "its other changes are skipped: a group is changed completely or not at all"
    executed: bool = False
    features: FeaturesChange | None = None
    settings: ConfigChange | None
    offsets: OffsetsChange
    cleared: OffsetsDeletions
    deletions: GroupDeletions

    def __post_init__(self) -> None:
        self._hold()

    @property
    def parts(self) -> tuple[Part, ...]:
        """In the order in which they are made."""
        parts = self.features, self.settings, self.offsets, self.cleared, self.deletions
        return tuple(part for part in parts if part is not None)

    @property
    def in_use(self) -> list[str]:
        """The groups whose members prevent the change."""
        plans = (plan for part in self.parts if isinstance(part, CommittedChange) for plan in part.plans)
        return list(dict.fromkeys(plan.group for plan in plans if plan.refusals))

    @property
    def is_empty(self) -> bool:
        return all(part.is_empty for part in self.parts)

    @property
    def refused(self) -> bool:
        return any(part.refused for part in self.parts)

    @property
    def question(self) -> str:
        return "; ".join(part.question for part in self.parts if not part.is_empty)

    @property
    def done(self) -> str | None:
        return "; ".join(done for part in self.parts if (done := part.done)) or None

    def check_again(self, *, was_asked: bool) -> None:
        for part in self.parts:
            part.check_again(was_asked=was_asked)
        self._hold()

    def items(self) -> Sequence[ChangedItem]:
        return [item for part in self.parts for item in part.items()]

    def results(self) -> Sequence[ItemResult]:
        return [result for part in self.parts for result in part.results()]

    def apply(self) -> None:
        """Make the changes; a failure does not affect other groups."""
        for part in self.parts:
            if not part.is_empty:
                try:
                    part.apply()
                except (WireError, CommandError) as error:
                    if not self.executed:
                        raise
                    part.unread += [
                        Problem(subject=plan.group, message=str(error), group=plan.group)
                        for plan in part.plans_to_apply
                    ]
                self.executed = True
                self._hold()

    def held_groups(self, failing: frozenset[str]) -> frozenset[str]:
        """The groups whose remaining changes are skipped, given those of which a change is impossible or failed."""
        return failing

    def _hold(self) -> None:
        failing = frozenset[str]().union(*(part.failing for part in self.parts))
        for part in self.parts:
            if part.outcome is None:
                part.held = self.held_groups(failing)

    @property
    def obstacles(self) -> Sequence[Problem]:
        """Why changes are in none of the parts."""
        return ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Problems of each part, in the order of the parts, and of the skipped groups."""
        plans = [(plan, part.held) for part in self.parts for plan in part.plans]
        held = sorted({plan.group for plan, held in plans if plan.applicable and plan.group in held})
        errors = (error for part in self.parts for error in part.errors)
        return merged(
            [*self.obstacles, *errors, *(Problem(subject=group, message=self.why_held) for group in held)]
        )
