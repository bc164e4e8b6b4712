"""The entry of a run of plans in the journal: an item for each plan, and for each restart of a member."""

from collections.abc import Mapping, Sequence

from cli.journal.entry import ChangedItem, EntryStatus, ItemKind, ItemOutcome, ItemResult
from cli.journal.recording import begin
from cli.journal.writer import JournalFile
from cli.output import notice
from cli.selection import ReusableSource
from cli.verbs.migrate.event_documents import Event, EventDocument
from cli.verbs.migrate.prepare import PreparedPlan
from cli.verbs.migrate.settings import RunSettings
from migration.execution.fleet import GroupPhase

UNKNOWN, DONE = ItemResult(result=ItemOutcome.UNKNOWN), ItemResult(result=ItemOutcome.DONE)


def plan_items(plans: Sequence[PreparedPlan]) -> list[ChangedItem]:
    """What each plan converts: `range` to `consumer`, or back."""
    return [
        ChangedItem(
            kind=ItemKind.STEP,
            group=one.plan.group,
            name=one.way.path,
            before=one.way.origin,
            after=one.way.destination.value,
        )
        for one in plans
    ]


class MigrationEntry:
    """An entry that has begun; without a journal, nothing is written. Runs, in their threads, call `hear`."""

    def __init__(
        self, file: JournalFile | None, plans: Sequence[PreparedPlan], settings: RunSettings
    ) -> None:
        """Write the beginning. Raises NotJournaled. Raises WireError. Raises CommandError."""
        self._entry = None
        self._groups = [one.plan.group for one in plans]
        self._restarts: dict[tuple[str, ...], tuple[ChangedItem, ItemResult]] = {}
        if file is not None:
            with ReusableSource(settings.source) as source:
                items = plan_items(plans)
                self._entry = begin(file, "migrate", items, source.get(), settings.source)

    def hear(self, document: EventDocument) -> None:
        """Note a restart when its command begins, and its result when that ends."""
        event = Event(document)
        key = event.group, event.place_text, event.text("name")
        if event.kind == "hook-began":
            lines = event.part("change").part("set").document
            restart = ChangedItem(
                kind=ItemKind.STEP,
                group=event.group,
                name=f"{event.text('action')} {event.text('name')}, {event.place_text}",
                after="; ".join(f"{name}={value}" for name, value in lines.items()) or None,
                at=event.at,
            )
            self._restarts[key] = restart, UNKNOWN
        elif event.kind == "hook-ended" and key in self._restarts:
            # Its problem has the output of the command, which may contain a secret.
            failed = ItemResult(result=ItemOutcome.FAILED, message="the command failed")
            self._restarts[key] = self._restarts[key][0], failed if event.text("problem") else DONE

    def end(self, phases: Mapping[str, GroupPhase]) -> None:
        """Write the end, with the phase of each group."""
        if self._entry is None:
            return
        ends = [phases[group] for group in self._groups]
        results = [
            DONE if end is GroupPhase.FINISHED else ItemResult(result=ItemOutcome.FAILED, message=end.value)
            for end in ends
        ]
        status = EntryStatus.DONE if {*ends} <= {GroupPhase.FINISHED} else EntryStatus.FAILED
        status = EntryStatus.STOPPED if GroupPhase.HELD in ends else status
        restarts = list(self._restarts.values())
        results += [result for _, result in restarts]
        if (failed := self._entry.end(status, results, [item for item, _ in restarts])) is not None:
            notice(failed)
