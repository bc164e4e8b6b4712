"""Carries prepared plans out, one or a fleet, and reports how that ended."""

import os
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from cli.errors import CommandError, ExitStatus, is_expected
from cli.output import notice
from cli.render.document import FORMAT_VERSION
from cli.verbs.migrate import event_documents as documents
from cli.verbs.migrate.event_documents import EventDocument, Facts
from cli.verbs.migrate.fleet_plans import FleetPlans, left_out_data
from cli.verbs.migrate.plan_data import plan_data
from cli.verbs.migrate.prepare import PreparedPlan
from cli.verbs.migrate.report import HTML, FleetFacts, Unbegun, write_reports
from cli.verbs.migrate.run import GroupRun
from cli.verbs.migrate.run_directory import (
    EVENTS,
    EventDirectory,
    RunDirectory,
    directory_of,
    read_former_runs,
)
from cli.verbs.migrate.settings import RunSettings
from cli.verbs.migrate.telling import Telling
from cli.verbs.migrate.waves import Conductor
from groups.files import replace_file
from groups.yaml_files import yaml_lines
from migration.execution.fleet import Fleet, GroupPhase, WaveOptions, WaveStatus
from migration.plan_file import plan_to_data

JOURNAL = "migration.run"  # The directory of a fleet's journal and report, next to the plans


@dataclass(slots=True, kw_only=True)
class FleetRun:
    plans: FleetPlans
    settings: RunSettings
    fleet: Fleet
    options: WaveOptions
    journal: EventDirectory | None  # None for one plan
    telling: Telling
    _heard: "queue.SimpleQueue[EventDocument]" = field(default_factory=queue.SimpleQueue)
    _is_logged: bool = True
    _reports: dict[str, Path] = field(default_factory=dict)  # The pages of runs, by group

    def carry_out(self) -> ExitStatus:
        """Raises what ended a run, if not a stop: of one plan anything, of a fleet a fault of Kohort."""
        began_s = time.monotonic()
        conductor = Conductor(
            fleet=self.fleet,
            runs={group: self._maker(prepared) for group, prepared in self.plans.prepared.items()},
            telling=self.telling,
            heard=self._heard,
            report=self._report,
            note=None if self.journal is None else self._note,
            finished_before=self.plans.finished_before,
        )
        self._note_start()
        status = conductor.conduct()
        self._note(documents.fleet_ended(status.phases, status.ends, time.monotonic() - began_s))
        conductor.pass_on(0.0)
        pages = list(self._reports.values()) if self.journal is None else list(self._summary(status))
        self.telling.end(self._document(conductor.begun, status, pages))
        for page in pages:
            notice(f"the report is {page}")
        for error in conductor.failures.values():
            if self.journal is None or not is_expected(error):
                raise error
        done = set(status.phases.values()) <= {GroupPhase.FINISHED}
        return (
            ExitStatus.DONE if done and all(one.is_done for one in self.plans.left_out) else ExitStatus.FALSE
        )

    def _maker(self, prepared: PreparedPlan) -> Callable[[], GroupRun]:
        def make() -> GroupRun:
            directory = RunDirectory(prepared.file, prepared.plan, prepared.cluster)
            try:
                present = prepared.reread()
                if not present.is_rollback:
                    _keep_plan(present)
                return GroupRun(
                    prepared=present, settings=self.settings, directory=directory, tell=self._heard.put
                )
            except BaseException:
                directory.close()
                raise

        return make

    def _report(self, run: GroupRun) -> None:
        directory = run.directory.path
        try:
            page = write_reports(directory, read_former_runs(directory, run.prepared.plan).documents)
        except CommandError as error:  # which does not change how the run ended
            notice(str(error))
            return
        self._reports[run.group] = page

    def _note_start(self) -> None:
        groups = self.plans.groups
        self._note(
            documents.fleet_began(
                [group.name for group in groups],
                [group.name for group in groups if group.phase is GroupPhase.FINISHED],
                [left_out_data(one) for one in self.plans.left_out],
                self.options,
                resumed=any(group.has_begun for group in groups),
            )
        )

    def _note(self, facts: Facts) -> None:
        """Write an event of the fleet down, and tell it. Without its journal a fleet continues: each group has one."""
        if self.journal is None:
            return
        document = documents.fleet_document(facts)
        if self._is_logged:
            try:
                self.journal.write(document)
            except OSError as error:
                self._is_logged = False
                notice(f"{self.journal.path / EVENTS} cannot be written: {error.strerror or error}")
        self._heard.put(document)

    def _document(self, begun: Mapping[str, GroupRun], status: WaveStatus, pages: Sequence[Path]) -> Facts:
        """The last document of `--output json`."""
        plans = []
        for group, prepared in self.plans.prepared.items():
            is_done = status.phases[group] is GroupPhase.FINISHED
            before = plan_data(prepared, self.settings, state="done" if is_done else "waiting")
            report = self._reports.get(group)
            data = begun[group].data() if group in begun else before
            plans.append({**data, "report": None if report is None else str(report)})
        more: Facts = {}
        if self.journal is not None:
            left_out = [left_out_data(one) for one in self.plans.left_out]
            more = {"left_out": left_out, "report": str(pages[0]) if pages else None}
        return {"kohort": FORMAT_VERSION, "command": "migrate", "plans": plans, **more, "errors": []}

    def _summary(self, status: WaveStatus) -> Iterator[Path]:
        """The page of the fleet, from the events of all runs of its groups."""
        root = self.journal.path if self.journal else Path()
        plans = {group: (one.file, one.plan) for group, one in self.plans.prepared.items()}
        plans |= {one.group: (one.file, one.plan) for one in self.plans.left_out}
        events = [
            event
            for file, plan in plans.values()
            for event in read_former_runs(directory_of(file), plan).documents
        ]
        links = {
            group: quote(os.path.relpath(directory_of(file) / HTML, root))
            for group, (file, _) in plans.items()
            if (directory_of(file) / HTML).exists()
        }
        unbegun = [
            Unbegun(group=group, state="to come", why="")
            for group, phase in status.phases.items()
            if phase is GroupPhase.WAITING
        ]
        unbegun += [Unbegun(group=one.group, state="left out", why=one.why) for one in self.plans.left_out]
        try:
            yield write_reports(root, events, FleetFacts(links=links, unbegun=unbegun, ends=status.ends))
        except CommandError as error:
            notice(str(error))


def _keep_plan(prepared: PreparedPlan) -> None:
    """The plan as it is carried out, for a later run that continues."""
    try:
        replace_file(prepared.copy, yaml_lines(plan_to_data(prepared.plan)))
    except OSError as error:
        raise CommandError(
            f"{prepared.copy}: {error.strerror or error}: keep the plan in a writable directory"
        ) from None


def check_free(plans: FleetPlans) -> None:
    """Raises UsageError: another process is carrying a plan out, or a plan of its group. Raises CommandError: the
    directory of a run cannot be written."""
    for group in plans.groups:
        if group.phase is GroupPhase.WAITING:
            prepared = plans.prepared[group.name]
            RunDirectory(prepared.file, prepared.plan, prepared.cluster).close()


@contextmanager
def journal_of(named: Path) -> Iterator[EventDirectory]:
    """The journal of the fleet whose first plan, or directory of plans, is named so. Raises as `EventDirectory`."""
    directory = named if named.is_dir() else named.parent
    with EventDirectory(directory / JOURNAL, f"the plans in {directory}") as journal:
        yield journal
