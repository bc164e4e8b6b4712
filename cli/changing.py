"""The path of every change: show it, ask, apply exactly what was shown, report what was done and what was not."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

import typer

from cli.consent import ConsentOptions, ask
from cli.counts import counted
from cli.errors import ExitStatus
from cli.options import OutputOptions
from cli.output import arranged, emit, notice, render, status_of, write_out
from cli.render.document import Column, Document, Table
from cli.render.output_format import FOR_PROGRAMS, OutputFormat
from groups.model import Group, Problem
from groups.offsets.model import Place

if TYPE_CHECKING:
    from cli.sources.writer import ClusterWriter, Failed

Part: TypeAlias = Place | str | None
"""A part of a group's change: a partition's offset, a topic deleted with the group, a member, or all of it (None)."""
Outcome: TypeAlias = "Mapping[tuple[str, Part], Failed | None]"
"""The outcome of a change, by group and part; None means done."""
PREVIEW = "this is a preview: nothing was changed. Add --execute to make the change"
NOTHING_DONE = "nothing was changed"
GROUPS_NAMED = 5
"""Messages about more groups than this contain only sums; the document contains all groups."""


class Change(Protocol):
    """A change of a cluster by a command, completely known before anything is sent."""

    @property
    def question(self) -> str:
        """The text that the user confirms: `set 12 offsets of 2 groups`."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        ...

    @property
    def refused(self) -> bool:
        """Whether the cluster would refuse or has refused part of it."""
        ...

    @property
    def done(self) -> str | None:
        """A message about what was done; None if nothing was done."""
        ...

    def document(self) -> Document:
        """The document to print: the change and, after `apply`, its outcome."""
        ...

    def apply(self) -> None:
        """Send the change."""
        ...


class Planned(Protocol):
    """The planned change of one group, which is made completely or not at all."""

    @property
    def group(self) -> str: ...

    @property
    def applicable(self) -> bool:
        """Whether there is something to send, and no objection."""
        ...

    @property
    def refusals(self) -> tuple[Problem, ...]:
        """Why the cluster would refuse the change."""
        ...


P = TypeVar("P", bound=Planned)


@dataclass(slots=True, kw_only=True)
class ClusterChange(ABC, Generic[P]):
    """A `Change` of groups; the plans of some groups may be refused."""

    did: ClassVar[str]
    """The verb for the change, in the past tense: `deleted`."""
    what: ClassVar[str]
    """The noun for one changed thing: `offset`."""

    plans: Sequence[P]
    problems: Sequence[Problem] = ()
    """Problems that belong to no plan: groups that could not be read."""
    outcome: Outcome | None = None
    held: Collection[str] = ()
    """Groups that stay unchanged, whatever their plans."""

    @property
    def plans_to_apply(self) -> list[P]:
        """The plans that are carried out."""
        return [plan for plan in self.plans if plan.applicable and plan.group not in self.held]

    @property
    def failing(self) -> set[str]:
        """Groups whose change is impossible or failed."""
        failed = {group for (group, _), failed in (self.outcome or {}).items() if failed is not None}
        return failed.union(plan.group for plan in self.plans if self.objections(plan))

    @property
    def is_empty(self) -> bool:
        return not self.plans_to_apply

    @property
    def refused(self) -> bool:
        failures = (self.outcome or {}).values()
        return any(plan.refusals for plan in self.plans) or any(each and each.refused for each in failures)

    @property
    def errors(self) -> list[Problem]:
        """Why parts of the change cannot be made, or were not made."""
        errors = [*self.problems]
        for plan in self.plans:
            errors += self.objections(plan)
        for (group, part), failed in (self.outcome or {}).items():
            if failed is not None:
                place = part if isinstance(part, str) or part is None else f"{part[0]}-{part[1]}"
                subject = group if place is None else f"{group}, {place}"
                errors.append(Problem(subject=subject, message=failed.message))
        return errors

    def objections(self, plan: P) -> Sequence[Problem]:
        """The objections to a plan."""
        return plan.refusals

    @property
    def done(self) -> str | None:
        made = [key for key, failed in (self.outcome or {}).items() if failed is None]
        topics = sum(isinstance(part, str) for _, part in made)
        done = summed(
            self.did, Counter(group for group, part in made if not isinstance(part, str)), self.what
        )
        return f"{done}; deleted {counted(topics, 'internal topic')}" if topics else done

    def applied(self, group: str, part: Part = None) -> bool | None:
        """Whether a part of the change was made; None if it was not sent or no answer came."""
        if self.outcome is None or (group, part) not in self.outcome:
            return None
        failed = self.outcome[group, part]
        if failed is None:
            return True
        return False if failed.refused else None

    def with_states(self, table: Table, parts: Iterable[tuple[str, Part]]) -> Table:
        """The table with a row per part, and whether each was applied; before the change, whether each can be, if some
        cannot."""
        applicable = {plan.group for plan in self.plans_to_apply}
        outcome = self.outcome
        if outcome is None and all(plan.group in applicable for plan in self.plans):
            return table

        def state(group: str, part: Part) -> bool | None:
            if outcome is None:
                return group in applicable
            return self.applied(group, part) if (group, part) in outcome else False

        rows = [
            (*row, {True: "yes", False: "no", None: None}[state(*part)])
            for row, part in zip(table.rows, parts, strict=True)
        ]
        heading = Column("APPLICABLE" if outcome is None else "APPLIED")
        return replace(table, columns=(*table.columns, heading), rows=rows)

    def apply(self) -> None:
        self.outcome = self.send()

    @abstractmethod
    def send(self) -> Outcome:
        """Send the change to the cluster."""

    @property
    @abstractmethod
    def question(self) -> str: ...

    @abstractmethod
    def document(self) -> Document: ...


@dataclass(slots=True, kw_only=True)
class WrittenChange(ClusterChange[P]):
    """A `ClusterChange` that a `ClusterWriter` makes."""

    writer: ClusterWriter | None
    """None if the change is only shown."""

    def send(self) -> Outcome:
        if self.writer is None:
            raise ValueError("a change without a writer is only shown")
        return self.send_through(self.writer)

    @abstractmethod
    def send_through(self, writer: ClusterWriter) -> Outcome: ...


def carry_out(change: Change, consent: ConsentOptions, output: OutputOptions) -> None:
    """Show a change and, with consent, make it. Exits with the status."""
    if consent.place is not None:
        notice(f"the target is {consent.place}")
    if not consent.execute or change.is_empty:
        if not change.is_empty:
            notice(PREVIEW)
        _leave(change, output, asked=consent.execute)
        return
    programs = output.output in FOR_PROGRAMS
    preview = arranged(change.document(), output)
    if not programs:
        write_out(lambda stream: render(preview, output.output, stream))
    if not consent.is_given:
        if programs:
            render(preview, OutputFormat.TABLE, sys.stderr)
        for error in preview.errors:
            notice(f"{error.subject}: {error.message}")
        if not ask(f"about to {change.question}.", consent.place):
            notice(NOTHING_DONE)
            raise typer.Exit(int(ExitStatus.FALSE))
    change.apply()
    if change.done:
        notice(change.done)
    if programs:
        _leave(change, output)
        return
    document = change.document()
    for error in document.errors:
        if consent.is_given or error not in preview.errors:
            notice(f"{error.subject}: {error.message}")
    if document.errors:
        raise typer.Exit(int(ExitStatus.REFUSED if change.refused else ExitStatus.UNREADABLE))


def _leave(change: Change, output: OutputOptions, *, asked: bool = False) -> None:
    """Print the document and exit; `asked`: the change was requested, but it may be impossible or empty."""
    document = change.document()
    if asked and change.is_empty and document.rows_or_text and document.errors:
        notice(NOTHING_DONE)
    kept = change.is_empty and status_of(document.errors, shown=False) is ExitStatus.REFUSED
    emit(document, output, ExitStatus.REFUSED if change.refused or kept else ExitStatus.DONE)


def group_fields(group: Group, **more: Any) -> dict[str, Any]:
    """The document's fields of a group to change, with `more` before its members."""
    return {
        "group": group.id,
        "type": group.type.value,
        "state": group.state.value,
        **more,
        "members": [member.id for member in group.members],
    }


def summed(verb: str, done: Mapping[str, int], what: str) -> str | None:
    """`set 2 offsets of payments; 3 offsets of orders`, or only sums for many groups; None if nothing was done."""
    counts = {group: count for group, count in done.items() if count}
    if not counts:
        return None
    if len(counts) > GROUPS_NAMED:
        return f"{verb} {counted(sum(counts.values()), what)} of {len(counts)} groups"
    return f"{verb} {'; '.join(f'{counted(count, what)} of {group}' for group, count in counts.items())}"
