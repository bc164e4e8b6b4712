"""Check a gate: once, a second time if it would open, or repeatedly until it opens or can no longer open."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from cli.errors import CommandError, ExitStatus, UsageError
from cli.options import SourceOptions
from cli.output import notice
from cli.progress import Spinner
from cli.render.cells import safe_text
from cli.render.document import Block, Document, Heading, fields, led, table_of
from cli.render.lines import Role
from cli.selection import ReusableSource, is_live
from cli.sources.source import Source
from groups.counts import first_names
from groups.files import replace_file
from groups.model import Cause, Group, Problem
from groups.times import seconds_text
from groups.yaml_files import TreeError, load_tree, read_text, yaml_lines
from migration.gate.judge import STEADY_S, check_steady, judge_gate, needs_leader
from migration.gate.notes import SUFFIX, Notes, NotesError, fingerprint, notes_from_data, notes_to_data
from migration.gate.observation import GateObservation, GateResult
from migration.model import Plan, PlannedMember, Step
from migration.plan import epoch_of
from wire.client.errors import WireError

POLL_S = 2.0
NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GateQuestion:
    plan: Plan
    position: int  # The step's index, from 0; -1 for the gate before the first step
    round: int | None = None
    accept_drift: bool = False

    @property
    def step(self) -> Step | None:
        return self.plan.steps[self.position] if self.position >= 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """The result of one observation; `result` is None if the group could not be read."""

    result: GateResult | None
    group: Group | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def status(self) -> ExitStatus:
        if self.result is None:
            return ExitStatus.UNREADABLE
        if self.result.differences:
            return ExitStatus.USAGE
        statuses = {True: ExitStatus.DONE, False: ExitStatus.FALSE, None: ExitStatus.UNREADABLE}
        return statuses[self.result.open]


def question_of(
    plan: Plan, step: str, number: int | None, *, group: str | None, accept_drift: bool
) -> GateQuestion:
    """The gate of `--step` (a number or an id) and `--round`. UsageError if the plan has no such step or round."""
    if group is not None and group != plan.group:
        raise UsageError(f"the plan is for the group {plan.group}, not for {group}")
    if not plan.steps:
        why = "the group already uses the target protocol, or the plan is blocked"
        raise UsageError(f"the plan has no steps: {why}")
    position = _position(plan, step)
    if number is not None:
        rounds = len(plan.steps[position].rounds) if position >= 0 else 0
        if not 1 <= number <= rounds:
            known = f"has rounds 1 to {rounds}" if rounds else "has no rounds"
            raise UsageError(f"--round {number}: step {step} {known}")
    return GateQuestion(plan=plan, position=position, round=number, accept_drift=accept_drift)


def _position(plan: Plan, step: str) -> int:
    if step.isascii() and step.isdecimal() and len(step) < 10 and int(step) <= len(plan.steps):
        return int(step) - 1
    ids = [one.id for one in plan.steps]
    if step in ids:
        return ids.index(step)
    names = ", ".join(f"{number} ({name})" if name else str(number) for number, name in enumerate(ids, 1))
    raise UsageError(f"--step {step!r}: the plan's steps are {names}; 0 checks whether step 1 can start")


@dataclass(slots=True)
class NotesFile:
    """The notes of a plan; a file that cannot be read or written is reported once, and not used."""

    file: Path
    notes: Notes
    is_written: bool

    @classmethod
    def of_plan(cls, plan_file: Path, plan: Plan, *, is_written: bool) -> "NotesFile":
        file = plan_file.with_name(plan_file.name + SUFFIX)
        return cls(file, _read(file, plan), is_written)

    def next_step(self, plan: Plan) -> str:
        """The step to check if none is named; a notice says which, and why."""
        count = len(plan.steps)
        number = self.notes.next_step(count)
        if number in self.notes.opened:
            why = f"the gate of the last step, {number}, has opened already"
        elif number - 1 in self.notes.opened:
            why = f"the gate of step {number - 1} opened at {self.notes.opened[number - 1].at}"
        else:
            why = "no gate of the plan has opened yet"
        if count:
            notice(f"--step {number}: {why} ({self.file})")
        return str(number)

    def keep(self, notes: Notes) -> None:
        """Write the notes if they changed; the old file stays until the new one is complete."""
        if notes == self.notes:
            return
        self.notes = notes
        if not self.is_written:
            return
        try:
            replace_file(self.file, yaml_lines(notes_to_data(notes)))
        except OSError as error:
            self.is_written = False
            without = "The gate of the next step cannot compare with the members of this moment"
            why = f"cannot be written: {error.strerror or error}"
            notice(f"{self.file}: {why}. {without}: keep the plan in a writable directory")


def _read(file: Path, plan: Plan) -> Notes:
    empty = Notes(plan=fingerprint(plan))
    if not file.exists():
        return empty
    try:
        return notes_from_data(load_tree(file, read_text(file)), plan)
    except TreeError as error:
        notice(f"{error}; not used")
    except NotesError as error:
        notice(f"{file}: {error}; not used")
    return empty


@dataclass(slots=True)
class GatePoller:
    question: GateQuestion
    options: SourceOptions
    notes: NotesFile
    reported: set[str] = field(default_factory=set)

    def ask(self, wait_s: float | None) -> GateAnswer:
        """One answer; with `wait_s`, the first one that waiting cannot change, or the last one within that time."""
        if wait_s is not None and self.options.as_of is not None:
            raise UsageError("--wait cannot be used with --as-of: the past does not change")
        with ReusableSource(self.options) as opened:
            if wait_s is None:
                return self._keep(self._observe_twice(opened))
            return self._keep(self._wait(opened, wait_s))

    def _wait(self, opened: ReusableSource, wait_s: float) -> GateAnswer:
        deadline = time.monotonic() + wait_s
        step = f"step {self.question.position + 1}"
        if self.question.round:
            step += f", round {self.question.round}"
        with Spinner(f"{step}: checking") as spinner:
            while True:
                answer = self._try(opened)
                left = deadline - time.monotonic()
                if left <= 0 or (answer.result is not None and answer.result.is_final):
                    return answer
                spinner.show(f"{step}: {_waited_for(answer.result)}, {seconds_text(left)} left")
                time.sleep(min(POLL_S, left))

    def _try(self, opened: ReusableSource) -> GateAnswer:
        """An answer. A temporary error (a coordinator is loading) is reported; the gate is checked again later."""
        try:
            answer = self._observe_twice(opened)
        except (WireError, CommandError) as error:
            if not opened.may_pass(error):
                raise
            opened.close()
            answer = GateAnswer(result=None, problems=(Problem(subject=opened.name, message=str(error)),))
        if answer.result is None:
            for problem in answer.problems:
                self._report(f"{problem.subject}: {problem.message}; trying again")
        return answer

    def _observe_twice(self, opened: ReusableSource) -> GateAnswer:
        """An answer. A gate opens only if a live group is the same after `STEADY_S`; a file does not change."""
        first = self._observe(opened.get())
        opened.print_notices()
        if not opened.is_live or first.result is None or not first.result.open:
            return first
        time.sleep(STEADY_S)
        second = self._observe(opened.get())
        if second.result is None or not second.result.open:
            return second
        steady = check_steady(first.group, second.group)
        return replace(second, result=replace(second.result, checks=(*second.result.checks, steady)))

    def _observe(self, source: Source) -> GateAnswer:
        question, plan = self.question, self.question.plan
        described = source.describe([plan.group], offsets=False)
        group = described.items[0] if described.items else None
        if group is None and not all(problem.cause is Cause.ABSENT for problem in described.problems):
            return GateAnswer(result=None, problems=described.problems)
        if group is not None:
            for problem in described.problems:
                self._report(f"{problem.subject}: {problem.message}")
            if needs_leader(question.step):
                (group,) = source.with_leaders([group])
        notes = self.notes.notes
        before = notes.opened.get(question.position + 1)
        observed = GateObservation(
            plan=plan,
            position=question.position,
            group=group,
            cluster=source.cluster(),
            partitions=self._partitions(source),
            is_whole=self.options.snapshot is None,
            began_with=notes.members_at(question.position, plan),
            was_open=before is not None,
            round=question.round,
        )
        result = judge_gate(observed, accept_drift=question.accept_drift)
        return GateAnswer(result=result, group=group)

    def _partitions(self, source: Source) -> dict[str, int]:
        """Partition counts of the topics that the plan's group read; only a live cluster shows deleted topics."""
        baseline = self.question.plan.baseline
        names = set(baseline.partitions) if baseline else set()
        if not names:
            return {}
        read = source.topics(names, end_offsets=False)
        partitions = {topic.name: topic.partitions for topic in read.items}
        for problem in read.problems:
            self._report(f"{problem.subject}: {problem.message}")
        if is_live(self.options) and not read.problems:
            partitions |= dict.fromkeys(names - partitions.keys(), 0)
        return partitions

    def _keep(self, answer: GateAnswer) -> GateAnswer:
        """Record that the step has started and, if the gate is open, the members."""
        question, result = self.question, answer.result
        if result is None or result.differences:
            return answer
        notes, number = self.notes.notes, question.position + 1
        if number:
            notes = notes.with_step_started(number)
        if result.strayed is not None and not result.strayed.by_waiting:
            notes = notes.without_from(result.strayed.back_to + 1)
        if result.open and question.round is None:
            members = tuple(map(PlannedMember.of, answer.group.members if answer.group else ()))
            before = notes.opened.get(number)
            if before is not None and before.next_started and {*before.members} != {*members}:
                self._report(
                    f"step {number + 1} started after this gate opened: the members of that moment stay recorded. If "
                    f"step {number} was repeated since, members restarted for it count as restarted for step "
                    f"{number + 1}"
                )
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            notes = notes.with_opened(number, now, members, epoch_of(answer.group) if answer.group else None)
        self.notes.keep(notes)
        return answer

    def _report(self, message: str) -> None:
        if message not in self.reported:
            self.reported.add(message)
            notice(message)


def _waited_for(result: GateResult | None) -> str:
    if result is None:
        return "the group cannot be read now"
    labels = list(dict.fromkeys(one.label for one in result.waiting_for))
    if labels:
        return safe_text(f"waiting for {first_names(labels, NAMES_SHOWN)}")
    return safe_text(result.reasons[0]) if result.reasons else "the group has not settled"


_ROLES = {True: Role.GOOD, False: Role.WARNING, None: Role.WARNING}
_ANSWERS = {True: "yes", False: "no", None: None}


def gate_document(question: GateQuestion, answer: GateAnswer) -> Document:
    return Document(
        command="gate",
        data=_data(question, answer.result),
        blocks=list(_blocks(question, answer.result)),
        errors=answer.problems,
    )


def _data(question: GateQuestion, gate_result: GateResult | None) -> dict[str, object]:
    result = gate_result or GateResult()
    strayed = result.strayed
    back = strayed and (strayed.back_to, question.plan.steps[strayed.back_to])
    return {
        "group": question.plan.group,
        "step": question.position + 1,
        "id": (question.step.id or None) if question.step else None,
        "round": question.round,
        "open": result.open,
        "reasons": list(result.reasons),
        "strayed": strayed is not None,
        "back_to": back and {"step": back[0] + 1, "id": back[1].id or None, "title": back[1].title},
        "refused": bool(result.differences),
        "differences": [fields(one, "what", "plan", "now") for one in result.differences],
        "waiting_for": [fields(one, "label", "id", "host", "why") for one in result.waiting_for],
        "checks": [fields(one, "check", "holds", "text") for one in result.checks],
    }


def _blocks(question: GateQuestion, result: GateResult | None) -> Iterator[Block]:
    if result is None:
        return
    yield Heading(_title(question), level=1)
    if result.differences:
        unlike = "the group does not match this plan, or no longer does"
        yield led(f"Refused: {unlike}. Make a new plan: kohort plan.", Role.BAD)
        yield table_of(result.differences, ("SUBJECT", "what"), "PLAN", "NOW")
        return
    yield led(_answer(question, result), Role.BAD if result.strayed else _ROLES[result.open])
    holds = ("HOLDS", lambda check: _ANSWERS[check.holds])
    yield table_of(result.checks, holds, "CHECK", ("OBSERVED", "text"))
    if result.waiting_for:
        who = (("MEMBER", "label"), ("CONSUMER-ID", "id"))
        yield table_of(result.waiting_for, *who, "HOST", "WHY")
    if result.open is False and not result.strayed and question.step and question.step.dangers:
        yield Heading("Possible problems")
        yield table_of(question.step.dangers, ("PROBLEM", "what"), "SYMPTOM", ("ACTION", "then"))


def _title(question: GateQuestion) -> str:
    group, steps = question.plan.group, question.plan.steps
    if question.step is None:
        return f"{group}: before step 1 of {len(steps)}"
    of_round = f", round {question.round} of {len(question.step.rounds)}" if question.round else ""
    return f"{group}: step {question.position + 1} of {len(steps)}{of_round}: {question.step.title}"


def _answer(question: GateQuestion, result: GateResult) -> str:
    if result.strayed is not None:
        back = result.strayed.back_to
        title = question.plan.steps[back].title
        message = result.strayed.message.removesuffix(".")
        return f"Off plan: {message}. Go back to step {back + 1}: {title}."
    if result.open is False:
        return "Not complete: do not continue."
    if result.open is None:
        return "Unknown: do not continue until you know."
    return f"Open: {_next(question)}"


def _next(question: GateQuestion) -> str:
    steps, step = question.plan.steps, question.step
    following = question.position + 1
    if step is not None and question.round is not None:
        if question.round < len(step.rounds):
            return f"continue with round {question.round + 1}: {', '.join(step.rounds[question.round])}."
        return f"that was the last round. Now check the whole step (--step {following})."
    if following < len(steps):
        return f"continue with step {following + 1}: {steps[following].title}."
    return "the plan is complete."
