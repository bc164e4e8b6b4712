"""What real consumers did in a story: read, written, and compared with what the simulation makes of it.

A recording is the file `stories/recorded/STORY.VARIANT.CLIENT.json`. It holds every course that the story took when it
was played several times, each once, with for each member

- `ids`: its ids in the group, of each of its processes in order: a classic one that fell out has more than one;
- `calls`: the calls of the listener and of custom assignors, the exceptions out of the consumer's methods, and what it
  warns of, in order. `at` is when, in seconds, for reading only. What repeats with every poll is there once
  (`without_repetitions`);
- `final`: what it owned at the end, if it still ran.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

STORIES = Path(__file__).with_name("stories")
RECORDED = STORIES / "recorded"
Topics = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of the listener (`partitions`) or of a custom assignor (`assignor`: what it took and returned), an
    exception or a warning (`message`): when, and its words, make no difference."""

    what: str  # assigned, revoked, lost, the assignor's method, the exception's class, or warning
    partitions: Topics | None = None
    assignor: Mapping[str, Any] | None = None  # User data as base64, members by name
    message: str = field(default="", compare=False)
    at_s: float = field(default=0.0, compare=False)

    @property
    def is_thrown(self) -> bool:
        return self.partitions is None and self.assignor is None

    def __str__(self) -> str:
        if self.assignor is not None:
            return f"{self.what} {json.dumps(self.assignor, sort_keys=True)}"
        if self.what == "warning":
            return self.what
        return f"throws {self.what}" if self.partitions is None else f"{self.what} {as_text(self.partitions)}"

    def as_json(self) -> dict[str, Any]:
        if self.assignor is not None:
            return {"assignor": self.what, **self.assignor, "at": round(self.at_s, 1)}
        if self.what == "warning":
            return {"warning": self.message, "at": round(self.at_s, 1)}
        if self.partitions is None:
            return {"thrown": self.what, "message": self.message, "at": round(self.at_s, 1)}
        return {"callback": self.what, "partitions": self.partitions, "at": round(self.at_s, 1)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Call:
        if "assignor" in fields:
            rest = {key: value for key, value in fields.items() if key not in ("assignor", "at")}
            return cls(what=fields["assignor"], assignor=rest, at_s=fields["at"])
        if "warning" in fields:
            return cls(what="warning", message=fields["warning"], at_s=fields["at"])
        if "thrown" in fields:
            return cls(what=fields["thrown"], message=fields["message"], at_s=fields["at"])
        return cls(what=fields["callback"], partitions=fields["partitions"], at_s=fields["at"])


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCourse:
    """A member in one course of a story. Its ids make no difference."""

    calls: tuple[Call, ...]
    final: Topics | None
    ids: tuple[tuple[str, ...], ...] = field(default=(), compare=False)
    """Of each process; none where it never got as far as to know one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    members: Mapping[str, MemberCourse]

    @property
    def first_ids(self) -> dict[str, tuple[str, ...]]:
        """The first id of each process of each member; empty where it is not known."""
        return {
            name: tuple(ids[0] if ids else "" for ids in member.ids) for name, member in self.members.items()
        }


def with_ranked_generations(course: Course) -> Course:
    """Generations of assignors' calls become 1, 2, … in their order: how many joins fail before them is chance."""
    known = sorted(
        {
            call.assignor["generation"]
            for member in course.members.values()
            for call in member.calls
            if call.assignor is not None and "generation" in call.assignor
        }
    )
    rank = {generation: number for number, generation in enumerate(known, start=1)}

    def ranked(call: Call) -> Call:
        if call.assignor is None or "generation" not in call.assignor:
            return call
        return replace(call, assignor={**call.assignor, "generation": rank[call.assignor["generation"]]})

    members = {
        name: replace(member, calls=tuple(map(ranked, member.calls)))
        for name, member in course.members.items()
    }
    return replace(course, members=members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A file of a story as one client library plays it. First seen course first."""

    story: str
    variant: str
    client: str  # java or librdkafka
    version: str  # of the client library
    why: str  # Why there is more than one course
    courses: tuple[Course, ...]

    @property
    def path(self) -> Path:
        return RECORDED / f"{self.story}.{self.variant}.{self.client}.json"

    def seen(self, course: Course) -> Recording:
        """This recording with a course that may be another one."""
        return self if course in self.courses else replace(self, courses=(*self.courses, course))

    def write(self) -> None:
        """A line a call, so that a difference is one in `git diff`, too."""
        head = "".join(
            f"  {json.dumps(name)}: {json.dumps(getattr(self, name))},\n"
            for name in ("story", "variant", "client", "version", "why")
        )
        courses = ",\n".join(map(_course_text, self.courses))
        self.path.write_text(f'{{\n{head}  "courses": [\n{courses}\n  ]\n}}\n', encoding="utf-8")


def read_recording(path: Path) -> Recording:
    """The recording of a file."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    return Recording(**{**fields, "courses": tuple(map(_course, fields["courses"]))})


def _course(fields: Mapping[str, Any]) -> Course:
    return Course(
        members={
            name: MemberCourse(
                ids=tuple(map(tuple, member["ids"])),
                calls=tuple(map(Call.from_json, member["calls"])),
                final=member["final"],
            )
            for name, member in fields["members"].items()
        }
    )


def without_repetitions(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Calls without what repeats with every poll: an exception, alone or with the calls of its poll; and a third
    call of an assignor that equals the two before: a member that joins again while another one's `poll` throws."""
    kept: list[Call] = []
    for call in calls:
        kept.append(call)
        if call.assignor is not None and kept[-3:] == [call] * 3:
            del kept[-1]
        if not call.is_thrown:
            continue
        for length in (1, 2, 3):
            if len(kept) >= 2 * length and kept[-length:] == kept[-2 * length : -length]:
                del kept[-length:]
                break
    return tuple(kept)


def side_by_side(expected: Mapping[str, MemberCourse], actual: Mapping[str, MemberCourse]) -> str:
    """Both courses in two columns, a member after the other, with a mark where they differ."""
    lines = []
    for name in sorted({*expected, *actual}):
        left, right = _lines(expected.get(name)), _lines(actual.get(name))
        width = max(len(line) for line in [*left, "recorded"])
        lines.append(f"{name}: {'recorded':<{width}}   simulated")
        for one, other in zip_longest(left, right, fillvalue="-"):
            lines.append(f"{'   ' if one == other else ' ! '}{one:<{width}} | {other}")
    return "\n".join(lines)


def as_text(partitions: Topics) -> str:
    """`orders[0 1]`, or `{}`."""
    return " ".join(f"{topic}[{' '.join(map(str, those))}]" for topic, those in partitions.items()) or "{}"


def _lines(member: MemberCourse | None) -> list[str]:
    if member is None:
        return ["is not there"]
    final = "has ended" if member.final is None else f"owns {as_text(member.final)}"
    return [*map(str, member.calls), final]


def _course_text(course: Course) -> str:
    members = ",\n".join(
        f"      {json.dumps(name)}: {{\n"
        f'        "ids": {json.dumps(member.ids)},\n'
        f'        "calls": [{_calls_text(member.calls)}],\n'
        f'        "final": {json.dumps(member.final)}\n'
        "      }"
        for name, member in course.members.items()
    )
    return f'    {{"members": {{\n{members}\n    }}}}'


def _calls_text(calls: Sequence[Call]) -> str:
    lines = ",\n".join(f"          {json.dumps(call.as_json())}" for call in calls)
    return f"\n{lines}\n        " if lines else ""
