"""What the application looks at: a source, or one of several clusters, each with its poller."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from textual.message import Message

from cli.options import SourceOptions
from cli.selection import ReusableSource
from cli.sources.contexts.resolve import of_cluster
from cli.times import moment
from cli.verbs.top.choice import GroupsToShow
from cli.verbs.top.host import Host
from cli.verbs.top.options import TopOptions
from cli.verbs.top.poller import Poller
from cli.verbs.top.sight import Sight
from cli.verbs.why.reading import is_file


class NewSight(Message):
    """A poll has brought something new."""

    def __init__(self, poller: Poller, sight: Sight) -> None:
        super().__init__()
        self.poller, self.sight = poller, sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    source: SourceOptions
    choice: GroupsToShow
    poller: Poller


class LookingApp(Host):
    def begin(self, source: SourceOptions, options: TopOptions) -> None:
        """Look at a source, or at the first of several clusters."""
        self.options, self.is_read_only = options, options.read_only
        self.clusters = {name: self._subject(of_cluster(source, name), name) for name in source.clusters}
        self.look_at(self.clusters[source.clusters[0]] if source.clusters else self._subject(source))

    def open(self, source: SourceOptions) -> None:
        """Look at another source."""
        self.look_at(self._subject(source))

    def _subject(self, source: SourceOptions, cluster: str = "") -> Subject:
        """`cluster`: its name if there are several."""
        as_of_ms, choice = moment(source.as_of, "--as-of"), GroupsToShow(self.options.selection)
        if as_of_ms is not None:
            source = replace(source, as_of=str(as_of_ms))

        def seen(sight: Sight) -> None:
            """In the poller's thread."""
            self.post_message(NewSight(poller, sight))

        opened = ReusableSource(source, partial(self._report, cluster))
        poller = Poller(opened, self.options.every, seen, self.now_ms, choice, as_of_ms)
        return Subject(source=source, choice=choice, poller=poller)

    def look_at(self, subject: Subject) -> None:
        self.source, self.choice, self.poller = subject.source, subject.choice, subject.poller
        file = self.options.journal or self.options.replay
        self.sight = self.poller.sight if file is None else Sight(source=str(file))
        # Files have no other records, and of several clusters none is read for them.
        self.asks_recent = is_file(self.options) or self.source.snapshot is not None or bool(self.clusters)
        self.past = None
        self.past_ms = 0  # When it was read
        self.activity = ""

    def turn_to(self, cluster: str) -> None:
        if self.clusters[cluster].poller is not self.poller:
            self.look_at(self.clusters[cluster])

    @property
    def sights(self) -> dict[str, Sight]:
        return {name: subject.poller.sight for name, subject in self.clusters.items()}

    @property
    def pollers(self) -> list[Poller]:
        return [subject.poller for subject in self.clusters.values()] or [self.poller]

    def _report(self, cluster: str, text: str) -> None:
        """A notice of the source, in the poller's thread."""
        self.call(partial(self.notify, f"{cluster}: {text}" if cluster else text, markup=False))

    def call(self, call: Callable[[], object]) -> None:
        """From another thread, without waiting for it; nothing if the screens are gone."""
        if self._loop is not None and self.is_running:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.call_later, call)
