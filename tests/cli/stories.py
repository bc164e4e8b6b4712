"""Stories: commands one after the other on a broker, whose whole answers are recorded."""

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.cli.offset_rig import OffsetRig
from tests.kafka.members import fresh_name
from tests.support.golden import assert_recorded

_UNDO = re.compile("kohort undo [0-9A-F]{8}")


class Story:
    """The answers so far, with the story's names in place of those on the broker, which are new in each run."""

    def __init__(self, rig: OffsetRig, **names: str) -> None:
        self.rig, self.names = rig, names
        self.answers: dict[str, str] = {}

    def name(self, *names: str) -> None:
        self.names |= {name: fresh_name(name) for name in names}

    def group(self, name: str, offsets: Mapping[int, int], topic: str = "orders") -> str:
        """A group without members that has committed these offsets of a topic."""
        places = {(self.names[topic], partition): offset for partition, offset in offsets.items()}
        self.names[name] = self.rig.group(places, self.names.get(name) or fresh_name(name))
        return self.names[name]

    @contextmanager
    def joined(self, group: str, topic: str = "orders") -> Iterator[None]:
        with self.rig.joined(self.names[group], self.names[topic]) as self.names["member"]:
            yield

    def tell(self, line: str, output: str = "csv", note: str = "") -> None:
        """Run a command, in which `{name}` is a name of the story; a note is added to its heading."""
        answer = self.rig.ours(*shlex.split(line.format(**self.names)), output=output)
        text = f"{answer.stdout}{answer.stderr}status {answer.status}"
        self._add(" ".join(filter(None, (line.replace("{", "").replace("}", ""), note))), text)

    def committed(self, *groups: str) -> None:
        offsets = (sorted(self.rig.committed(self.names[group]).items()) for group in groups)
        lines = (", ".join(f"{topic}-{number}: {at}" for (topic, number), at in offset) for offset in offsets)
        self._add(f"committed by {', '.join(groups)}", "\n".join(lines))

    def _add(self, heading: str, text: str) -> None:
        text = _UNDO.sub("kohort undo ID", text).replace(self.rig.broker.bootstrap, "HOST:PORT")
        for name, real in sorted(self.names.items(), key=lambda pair: -len(pair[1])):
            text = text.replace(real, name)
        self.answers[f"{len(self.answers) + 1}. {heading}"] = text

    def is_as_recorded(self, file: str) -> None:
        assert_recorded(file, self.answers)
