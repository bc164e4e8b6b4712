"""The path of every change: show, ask, compare, apply what was shown, report what was made and what was not."""

from __future__ import annotations

import os
import shlex
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeAlias, TypeVar

import typer

from cli import stopping
from cli.consent import EXPECTED_VARIABLE, PREVIEW, ConsentOptions, ask, digest_of
from cli.errors import CommandError, ExitStatus, RefusedError
from cli.journal.entry import ChangedItem, ItemOutcome, ItemResult
from cli.journal.recording import ChangeRecord
from cli.journal.reversible import irreversible
from cli.options import OutputOptions
from cli.output import arranged, emit, notice, render, status_of, write_out
from cli.progress import show_step
from cli.render.document import Column, Document, Table
from cli.render.output_format import FOR_PROGRAMS, OutputFormat
from groups.counts import counted
from groups.listing import shown_id
from groups.model import Group, Problem, TopicPartition, partition_name
from wire.errors import WireError

if TYPE_CHECKING:
    from cli.sources.source import Source
    from cli.sources.writer import ClusterWriter, Failed

Part: TypeAlias = TopicPartition | str | None
"""A part of a group's change: a partition's offset, a topic deleted with the group, a member, or all of it (None)."""
Outcome: TypeAlias = "Mapping[tuple[str, Part], Failed | None]"  # By group and part; None means done
MOVED = "the change is no longer what its preview showed: the group has changed since"
GROUPS_NAMED = 5  # Messages about more groups than this contain only sums; the document contains all groups


class Change(Protocol):
    """A change of a cluster by a command, completely known before anything is sent."""

    @property
    def question(self) -> str: ...  # What the user confirms: `set 12 offsets of 2 groups`
    @property
    def is_empty(self) -> bool: ...  # Whether there is nothing to send
    @property
    def refused(self) -> bool: ...  # Whether the cluster would refuse or has refused part of it
    @property
    def done(self) -> str | None: ...  # A message about what was done, if anything was

    def document(self) -> Document:
        """The document to print: the change and, after `apply`, its outcome."""

    def check_again(self, *, was_asked: bool) -> None:
        """Compare what is changed with the preview; if a user was asked, groups that have moved stay unchanged."""

    def items(self) -> Sequence[ChangedItem]:
        """What would be sent now, with what it replaces; for the journal."""

    def apply(self) -> None:
        """Send the change. Parts without an answer are reported too, also if Stopped was raised meanwhile."""

    def results(self) -> Sequence[ItemResult]:
        """The result of each of `items`, as they were when these were last read."""


class Planned(Protocol):
    """The planned change of one group, which is made completely or not at all."""

    @property
    def group(self) -> str: ...
    @property
    def applicable(self) -> bool: ...  # Whether there is something to send, and no objection
    @property
    def refusals(self) -> tuple[Problem, ...]: ...  # Why the cluster would refuse the change


P = TypeVar("P", bound=Planned)


@dataclass(slots=True, kw_only=True)
class ClusterChange(Change, ABC, Generic[P]):
    """A `Change` of groups; the plans of some groups may be refused."""

    did: ClassVar[str]  # The verb for the change, in the past tense: `deleted`
    what: ClassVar[str]  # The noun for one changed thing: `offset`
    shown_by: ClassVar[str] = "describe {group} --offsets"  # What shows, after `kohort`, what the change did

    plans: Sequence[P]
    problems: Sequence[Problem] = ()  # Problems that belong to no plan: groups that could not be read
    outcome: Outcome | None = None
    held: Collection[str] = ()  # Groups that stay unchanged, whatever their plans
    moved: list[Problem] = field(default_factory=list)  # Why groups that have changed stay unchanged
    unread: list[Problem] = field(default_factory=list)  # Why groups that were not compared stay unchanged
    blocked: dict[tuple[str, Part], Failed] = field(default_factory=dict)  # Parts that are not sent
    recorded: list[tuple[tuple[str, Part], ChangedItem]] = field(default_factory=list)
    """The items that were last read for the journal, by group and part."""

    @property
    def plans_to_apply(self) -> list[P]:
        return [plan for plan in self.plans if plan.applicable and plan.group not in self.held]

    @property
    def failing(self) -> set[str]:
        """Groups whose change is impossible or failed."""
        failed = {group for (group, _), failed in (self.outcome or {}).items() if failed is not None}
        late = [problem.group for problem in (*self.moved, *self.unread) if problem.group is not None]
        return failed.union(late, (plan.group for plan in self.plans if self.objections(plan)))

    @property
    def is_empty(self) -> bool:
        return not self.plans_to_apply

    @property
    def refused(self) -> bool:
        failures = (self.outcome or {}).values()
        refused = any(plan.refusals for plan in self.plans) or bool(self.moved)
        return refused or any(failure and failure.refused for failure in failures)

    @property
    def errors(self) -> list[Problem]:
        """Why parts of the change cannot be made, or were not made."""
        errors = [*self.problems, *self.moved, *self.unread]
        for plan in self.plans:
            errors += self.objections(plan)
        for (group, part), failed in (self.outcome or {}).items():
            if failed is not None:
                part_name = part if isinstance(part, str) or part is None else partition_name(part)
                subject = group if part_name is None else f"{group}, {part_name}"
                message = failed.message
                if failed.is_unknown:
                    message += f" The change may have been made: {self.comparison(group, part)} shows whether it was."
                errors.append(Problem(subject=subject, message=message))
        return errors

    def comparison(self, group: str, part: Part) -> str:
        """The command that shows whether a part of the change was made."""
        plans = (plan for plan in self.plans if plan.group == group)
        if isinstance(part, str) and any(part in getattr(plan, "internal_topics", ()) for plan in plans):
            return f"kafka-topics.sh --describe --topic {shlex.quote(part)}"
        return f"kohort {self.shown_by.format(group=shlex.quote(group))}"

    def objections(self, plan: P) -> Sequence[Problem]:
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
        return None if failed.is_unknown else False

    def check_again(self, *, was_asked: bool) -> None:
        """Nothing is compared."""

    def compared(self, subject: str, group: str, before: object, now: object, *, was_asked: bool) -> None:
        """Report a value that has changed since the preview; if a user was asked, its group stays unchanged."""
        shown = ["none" if value is None else value for value in (before, now)]
        text = f"was {shown[0]} at the preview, is {shown[1]}"
        if was_asked:
            message = f"{text}: another program has changed it; run the command again"
            self.moved.append(Problem(subject=subject, message=message, group=group))
            self.held = {*self.held, group}
        else:
            notice(f"{subject}: {text}; this change replaces it")

    def with_states(self, table: Table, parts: Iterable[tuple[str, Part]]) -> Table:
        """The table with whether each part was applied; before the change, whether it can be, if some cannot."""
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

    @abstractmethod
    def items_of(self, plan: P) -> Iterator[tuple[Part, ChangedItem]]:
        """What the change of a group replaces, by the parts by which it is reported."""

    def items(self) -> Sequence[ChangedItem]:
        items = ((plan.group, *item) for plan in self.plans_to_apply for item in self.items_of(plan))
        self.recorded = [
            ((group, part), item) for group, part, item in items if (group, part) not in self.blocked
        ]
        return [item for _, item in self.recorded]

    def results(self) -> Sequence[ItemResult]:
        return [self._result(key) for key, _ in self.recorded]

    def _result(self, key: tuple[str, Part]) -> ItemResult:
        if key not in (self.outcome or {}):
            return ItemResult(result=ItemOutcome.FAILED, message="it was not sent")
        failed = (self.outcome or {})[key]
        if failed is None:
            return ItemResult(result=ItemOutcome.DONE)
        outcome = ItemOutcome.UNKNOWN if failed.is_unknown else ItemOutcome.FAILED
        return ItemResult(result=outcome, message=failed.message)

    def apply(self) -> None:
        """Send the change. Raises WireError. Raises CommandError: nothing could be sent."""
        from cli.sources.writer import Failed
        from wire.client.steps import Deadline

        self.outcome = outcome = dict[tuple[str, Part], Failed | None](self.blocked)
        missing: Failed | None = None
        try:
            requests = self.send()
            while not Deadline.is_stopping() and (answered := next(requests, None)) is not None:
                outcome.update(answered)
            if Deadline.is_stopping():
                missing = Failed(message="stopped before it was sent", refused=False)
        except (WireError, CommandError) as error:
            if outcome == self.blocked:
                self.outcome = None
                raise
            missing = Failed(message=str(error), refused=False)
        except (stopping.Stopped, SystemError) as error:
            name = stopping.name_of_signal(stopping.stop_in(error).number)
            missing = Failed(message=f"no answer before {name}.", refused=False, is_unknown=True)
        if missing is not None:
            for plan in self.plans_to_apply:
                for part in self.parts(plan):
                    outcome.setdefault((plan.group, part), missing)

    def parts(self, plan: P) -> Iterable[Part]:
        """The parts that a group's change is reported by: all of it, and its internal topics."""
        return (None, *getattr(plan, "internal_topics", ()))

    @abstractmethod
    def send(self) -> Iterator[Outcome]:
        """Send the change to the cluster, and return the outcome of each of its requests."""


@dataclass(slots=True, kw_only=True)
class WrittenChange(ClusterChange[P]):
    """A `ClusterChange` that a `ClusterWriter` makes."""

    writer: ClusterWriter | None  # None if the change is only shown

    def send(self) -> Iterator[Outcome]:
        if self.writer is None:
            raise ValueError("a change without a writer is only shown")
        yield from self.send_through(self.writer)

    @abstractmethod
    def send_through(self, writer: ClusterWriter) -> Iterator[Outcome]: ...


def carry_out(
    change: Change,
    consent: ConsentOptions,
    output: OutputOptions,
    target: Source | None = None,
    *,
    undoes: str | None = None,
) -> None:
    """Show a change and, with consent, make it. Exits with the status, also if nothing reads the outcome. A change of
    a cluster, the `target`, gets an entry in the journal, which may undo another one."""
    if consent.place is not None:
        notice(f"the target is {consent.place}")
    for text in irreversible(change.items()):
        notice(text)
    expected = os.environ.get(EXPECTED_VARIABLE) if consent.execute else None
    if expected is not None and digest_of(change.document().as_data()) != expected:
        raise RefusedError(f"{MOVED}; {stopping.NOTHING_DONE}. Read the new preview, and decide again")
    if not consent.execute or change.is_empty:
        document = change.document()
        if not change.is_empty:
            notice(PREVIEW)
        elif consent.execute and document.rows_or_text and document.errors:
            notice(stopping.NOTHING_DONE)
        kept = change.is_empty and status_of(document.errors, shown=False) is ExitStatus.REFUSED
        emit(document, output, ExitStatus.REFUSED if change.refused or kept else ExitStatus.DONE)
        return
    record = ChangeRecord(None if target is None else consent, target, undoes)
    preview = arranged(change.document(), output)
    # A person sees a table before the change; other formats are one document, which shows what was applied.
    is_table = output.output is OutputFormat.TABLE
    prints_outcome = output.output in FOR_PROGRAMS or (consent.is_given and not is_table)
    if not prints_outcome:
        try:
            write_out(lambda stream: render(preview, output.output, stream))
        except CommandError as error:
            raise CommandError(f"{error}; {stopping.NOTHING_DONE}") from None
    if not consent.is_given:
        _ask(change, preview, consent, is_shown=not prints_outcome and sys.stdout.isatty())
    try:
        change.check_again(was_asked=expected is not None or not consent.is_given)
    except (WireError, CommandError):
        notice(stopping.NOTHING_DONE)
        raise
    with stopping.awaiting_answers(notice) as stop:
        document = _made(change, stop, record)
        for problem in document.errors:
            if consent.is_given or problem not in preview.errors:
                notice(f"{problem.subject}: {problem.message}")
        record.show_undo()
    if prints_outcome:
        try:
            write_out(lambda stream: render(arranged(document, output), output.output, stream))
        except stopping.Stopped as stopped:
            raise typer.Exit(stopping.status_of_signal(stopped.number)) from None
    if stop.status is not None:
        raise typer.Exit(stop.status)
    if document.errors:
        raise typer.Exit(int(ExitStatus.REFUSED if change.refused else ExitStatus.UNREADABLE))


def _ask(change: Change, preview: Document, consent: ConsentOptions, *, is_shown: bool) -> None:
    """Ask where the change is visible: above the question, unless it `is_shown` on the same terminal."""
    if not is_shown:
        render(preview, OutputFormat.TABLE, sys.stderr)
    for error in preview.errors:
        notice(f"{error.subject}: {error.message}")
    if not ask(f"about to {change.question}.", consent.place):
        notice(stopping.NOTHING_DONE)
        raise typer.Exit(int(ExitStatus.FALSE))


def _made(change: Change, stop: stopping.Stop, record: ChangeRecord) -> Document:
    """Make the change, and print what was done; its document with the outcome."""
    if change.is_empty:
        notice(stopping.NOTHING_DONE)
        return change.document()
    show_step(f"making the change: {change.question}", restarted=True)
    with record.of(change.document().command, change.items(), change.results, stop):
        try:
            change.apply()
        except stopping.Stopped as stopped:
            stop.number = stopped.number
        stop.is_over = True
    if stop.number is not None:
        notice(f"stopped by {stopping.name_of_signal(stop.number)}")
    if change.done:
        notice(change.done)
    return change.document()


def group_fields(group: Group, **more: object) -> dict[str, object]:
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
    return f"{verb} {'; '.join(f'{counted(count, what)} of {shown_id(group)}' for group, count in counts.items())}"
