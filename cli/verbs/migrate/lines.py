"""The events of a run as lines for people. A document may be of another version of Kohort, or damaged: what is not as
it should be is left out, and no document raises an error."""

from collections.abc import Iterable, Iterator, Sequence

from cli.render.cells import safe_text
from cli.verbs.migrate.event_documents import Event, EventDocument
from cli.verbs.migrate.telling import FleetStatus, Output, RunStatus
from groups.counts import counted, first_names
from groups.listing import shown_id
from groups.times import seconds_text

MOST_NAMES = 8


class Lines:
    """Prints a line per event, for pipes and files; `several`: with the group's name."""

    def __init__(self, *, several: bool) -> None:
        self._several, self._output = several, Output()

    def event(self, document: EventDocument) -> None:
        event = Event(document)
        name = f"{safe_text(shown_id(event.group))}: " if self._several and event.group else ""
        lines = [f"{safe_text(event.at)} {name}{safe_text(text)}" for text in event_texts(event)]
        if lines:
            self._output.write("\n".join(lines))

    def draw(self, runs: Sequence[RunStatus], fleet: FleetStatus | None = None) -> None:
        """Only events are printed."""

    def end(self, document: EventDocument) -> None:
        """Each run's end is an event."""


def event_texts(event: Event) -> Iterator[str]:
    """The lines of an event: one, and one for each command to run next; none for what only programs need."""
    text = event_text(event)
    if text:
        yield text
    for command in event.texts("commands"):
        yield f"run next: {command}"


def event_text(event: Event) -> str:
    """The event in a line, without its time and group; empty for what only programs need."""
    match event.kind:
        case "run-began":
            return _began(event)
        case "round-began":
            return f"{event.place_text} begins: {named(event.texts('names') or event.texts('members'))}"
        case "hook-began":
            action = event.text("action") or "restart"
            return f"{event.place_text}: {action} {member_of(event)}: the command is running"
        case "hook-runs":
            return ""
        case "hook-ended":
            return _hook_ended(event)
        case "member-returned":
            name, id_ = member_of(event), event.text("id")
            return f"{event.place_text}: {name} has returned{f' as {id_}' if id_ not in ('', name) else ''}"
        case "member-rejoined":
            name = member_of(event)
            return f"{event.place_text}: {name} has a new id, and was not restarted: it lost its session, or crashed"
        case "gate":
            answer = answer_of(event.truth("open"))
            return _detailed(f"{event.place_text}: the gate is {answer}", event.texts("reasons"))
        case "step-ended":
            if not event.place[0]:
                return "the group is as the plan requires before step 1"
            return _detailed(f"{event.place_text} is complete", costs_texts(event))
        case "stopped":
            return f"stopped by the rule {stop_text(event)}"
        case "rolling-back":
            begins = "The rollback begins"
            if event.text("rule"):
                begins = f"stopped by the rule {stop_text(event)} {begins}"
            return _detailed(begins, event.texts("steps"))
        case "rolled-back":
            return f"rolled back{_after(event)}: the group is as it was before step 1"
        case "finished":
            return f"finished{_after(event)}: every step is complete"
        case "held":
            return "the window has closed: it is held after the round in progress"
        case "interrupted" if (event.count("times") or 1) > 1:
            return "interrupted again: it stops at once"
        case "interrupted":
            return "interrupted: it stops after the round in progress; Ctrl-C again stops at once"
        case "fleet-began" | "wave-began" | "fleet-waits" | "group-ended" | "fleet-ended":
            return fleet_text(event)
        case "bridge":
            return f"bridge: {event.text('text')}"
        case "unread" if event.text("problem"):
            return f"the group cannot be read now, and is tried again: {event.text('problem')}"
        case "unread":
            return "the group can be read again"
        case kind:
            return f"another event: {kind}" if kind else "an event that cannot be read"


def fleet_text(event: Event) -> str:
    """An event of a fleet; the ends of its groups are events of theirs, unless one could not be begun."""
    match event.kind:
        case "fleet-began":
            what = "continues" if event.truth("resumed") else "begins"
            known = {"finished before": event.texts("finished"), "left out": event.parts("left_out")}
            details = [f"{len(groups):,} {state}" for state, groups in known.items() if groups]
            return _detailed(f"the run of {counted(len(event.texts('groups')), 'group')} {what}", details)
        case "wave-began":
            groups = event.texts("groups")
            what = "a canary" if event.truth("canary") else counted(len(groups), "group")
            return f"wave {event.count('wave')}, {what}: {named(groups)}"
        case "fleet-waits":
            until = f", until {event.text('until')}" if event.text("until") else ""
            return f"the next group waits: {event.text('why')}{until}"
        case "group-ended":
            return f"not begun: {event.text('error')}" if event.text("error") else ""
        case _:
            states = event.part("states")
            counts = [f"{states.count(name):,} {name}" for name in states.document if states.count(name)]
            reason = event.text("reason")
            return _detailed(f"the run has ended{_after(event)}", [", ".join(counts), reason])


def named(names: Sequence[str]) -> str:
    return first_names(names, MOST_NAMES) if names else "no member"


def member_of(event: Event) -> str:
    """The member's name; of a process with several members, all of their names."""
    names = event.texts("names") or event.texts("members")
    return event.text("name") or event.text("member") or named(names)


def answer_of(is_open: bool | None) -> str:
    """What a gate is."""
    return {True: "open", False: "closed", None: "unknown"}[is_open]


def stop_text(event: Event) -> str:
    """`member-missing: m1 is not in the group … The group is … Read the log …`."""
    texts = filter(None, (event.text("message"), *event.texts("standing"), event.text("remedy")))
    return f"{event.text('rule') or 'unknown'}: {' '.join(texts)}".rstrip(": ")


def costs_texts(event: Event) -> Iterator[str]:
    """What a step has cost, each figure with the median and the worst that were rehearsed."""
    measured, rehearsed = event.part("measured"), event.part("rehearsed")
    median, worst = rehearsed.part("median"), rehearsed.part("worst")
    for name, what in (("lasted_s", ""), ("rebalances", ""), ("without_owner_s", " without an owner")):
        figure, *played = (one.number(name) for one in (measured, median, worst))
        if figure is not None:
            known = [figure_text(name, one) for one in played if one is not None]
            text = counted(int(figure), "rebalance") if name == "rebalances" else figure_text(name, figure)
            yield text + what + (f" (rehearsed {known[0]}, at most {known[1]})" if len(known) == 2 else "")


def figure_text(name: str, value: float) -> str:
    """A figure: a duration if its name ends in `_s`, else a number without needless decimals."""
    return seconds_text(value) if name.endswith("_s") else f"{value:,.10g}"


def _began(event: Event) -> str:
    found = " ".join(event.texts("found"))
    if event.truth("resumed"):
        return _detailed("the run continues", (found,))
    way = f"{event.text('from')} to {event.text('to')}" if event.text("to") else ""
    return _detailed("the run begins", (event.text("path"), way, found))


def _detailed(text: str, details: Iterable[str]) -> str:
    known = "; ".join(filter(None, details))
    return f"{text}: {known}" if known else text


def _hook_ended(event: Event) -> str:
    lasted_s, problem = event.number("lasted_s"), event.text("problem")
    after = "" if lasted_s is None else f" after {seconds_text(lasted_s)}"
    what = f"the command failed{after}: {problem}" if problem else f"the command has ended{after}"
    return f"{event.place_text}: {member_of(event)}: {what}"


def _after(event: Event) -> str:
    lasted_s = event.number("lasted_s")
    return "" if lasted_s is None else f" after {seconds_text(lasted_s)}"
