"""A line for each event, in a pipe."""

from collections.abc import Mapping, Sequence

from cli.output import write_line
from cli.verbs.migrate.event_documents import EventDocument
from cli.verbs.migrate.telling import RunStatus


class Lines:
    def event(self, document: EventDocument) -> None:
        facts = ("kohort", "command", "at", "group", "plan", "event")
        rest = ", ".join(f"{name} {value}" for name, value in document.items() if name not in facts and value)
        write_line(f"{document['at']} {document['group']} {document['event']}: {rest}")

    def draw(self, runs: Sequence[RunStatus]) -> None:
        """Only events are printed."""

    def end(self, document: Mapping[str, object]) -> None:
        """Each run's end is an event."""
