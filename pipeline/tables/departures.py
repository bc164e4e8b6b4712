"""Verdicts on departed members: the commits of their partitions near each departure are found in columns, and judged
as everywhere (`groups.history.departures`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from groups.history.causes import RebalanceCause
from groups.history.commits import RECENT, Commits, PlaceCommits
from groups.history.departures import LOOK_AHEAD_US, causes_after, judge, look_back_us
from groups.history.events import Departure, MemberRecord, Place, Protocol
from pipeline.tables import schemas

SOUGHT: Final = schemas.table(
    ("topic", schemas.STRING, False),
    ("topic_partition", schemas.INT, False),
    ("from", schemas.LONG, False),
    ("at", schemas.LONG, False),
)
"""A partition of a departed member, and the times in µs between which its commits count."""
_OF_MEMBER: Final = ("member", "instance", "session_timeout_ms", "rebalance_timeout_ms")
_OF_DEPARTURE: Final = ("protocol", "seen", "earliest", "at", "waited_for", "away", "revoking")
_SLOT_US: Final = 300_000_000


def departures_row(departures: Sequence[Departure]) -> schemas.TableRow:
    """The columns of `pipeline.tables.rebalances.WALKED` with the departures of a rebalance."""
    sought = [
        {
            "topic": topic,
            "topic_partition": number,
            "from": departure.at - look_back_us(departure.record.session_timeout_ms),
            "at": departure.at,
        }
        for departure in departures
        for topic, number in dict.fromkeys((*departure.places, *filter(None, departure.others)))
    ]
    return {
        "departures": json.dumps([_tree(one) for one in departures]) if departures else None,
        "sought": sought,
    }


def _tree(departure: Departure) -> schemas.TableRow:
    """What `judge` asks of a departure, as plain values: workers read it from files."""
    return {
        "record": {name: getattr(departure.record, name) for name in _OF_MEMBER},
        "places": [(*place, since) for place, since in departure.places.items()],
        "others": departure.others,
        **{name: getattr(departure, name) for name in _OF_DEPARTURE},
    }


def _departure(tree: schemas.TableRow) -> Departure:
    return Departure(
        record=MemberRecord(**tree["record"]),
        protocol=Protocol(tree["protocol"]),
        places={(topic, number): since for topic, number, since in tree["places"]},
        others=tuple(other and tuple(other) for other in tree["others"]),
        **{name: tree[name] for name in _OF_DEPARTURE if name != "protocol"},
    )


def judged(case: schemas.TableRow, commits: Mapping[Place, PlaceCommits]) -> schemas.TableRow:
    """A row of `pipeline.tables.rebalances.WALKED` as one of `REBALANCES`, with the verdicts on its departures.
    `commits`: of its group near its departures, each once, in the order of the log."""
    causes, expired = case["causes"], []
    if case["departures"] is not None:
        view = Commits(_near(case["sought"], commits))
        verdicts = [judge(_departure(tree), view) for tree in json.loads(case["departures"])]
        causes = list(causes_after(tuple(map(RebalanceCause, causes)), verdicts))
        gone = {verdict.member for verdict in verdicts if verdict.cause is RebalanceCause.EXPIRY}
        expired = sorted(gone.intersection(case["left"]))
    return case | {"causes": causes, "cause": causes[0], "expired": expired}


def _near(
    sought: Sequence[schemas.TableRow], commits: Mapping[Place, PlaceCommits]
) -> dict[Place, PlaceCommits]:
    """The commits of each place: the last `RECENT` before its departures, and the first one after."""
    windows: dict[Place, list[tuple[int, int]]] = {}
    for one in sought:
        windows.setdefault((one["topic"], one["topic_partition"]), []).append((one["from"], one["at"]))
    near = {}
    for place, times in windows.items():
        if (of_place := commits.get(place)) is None:
            continue
        us = of_place.times
        before = np.logical_or.reduce([(us >= begin) & (us <= at) for begin, at in times])
        after = np.logical_or.reduce([(us > at) & (us <= at + LOOK_AHEAD_US) for _, at in times])
        rows = np.union1d(np.flatnonzero(before)[-RECENT:], np.flatnonzero(after)[:1])
        if len(rows):
            near[place] = PlaceCommits(*(column[rows] for column in of_place))
    return near


class SoughtCommits:
    """Which commits between two times, in µs, may be near a departure. `cases`: the columns `group` and `sought` of
    `WALKED`. Most commits are not, so few columns are compared first."""

    def __init__(self, cases: pa.Table, first: int, last: int) -> None:
        sought = cases.column("sought").combine_chunks()
        group = cases.column("group").combine_chunks().take(pc.list_parent_indices(sought))
        topic, number, begin, at = (pc.struct_field(sought.flatten(), name) for name in SOUGHT.names)
        begin_us, end_us = begin.to_numpy(), at.to_numpy() + LOOK_AHEAD_US
        self._groups, self._topics = group.unique(), topic.unique()
        self._first = first // _SLOT_US
        slots = last // _SLOT_US - self._first + 1
        is_within = (begin_us <= last) & (end_us >= first)
        changes = np.zeros((len(self._groups) + 1, slots + 1), dtype=np.int32)
        of_group = _codes(group, self._groups)
        for times, change in ((begin_us, 1), (end_us + _SLOT_US, -1)):
            slot = np.clip(times // _SLOT_US - self._first, 0, slots)
            np.add.at(changes, (of_group[is_within], slot[is_within]), change)
        self._is_near = changes.cumsum(axis=1) > 0  # by group, the last row is of the others; and by slot
        self._numbers = int(pc.max(number).as_py() or 0) + 1
        self._places = np.unique(self._keys(group, topic, number.to_numpy()))

    def near(self, group: pa.Array, us: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which commits are of a group with a departure at about that time."""
        is_near: NDArray[np.bool_] = self._is_near[_codes(group, self._groups), us // _SLOT_US - self._first]
        return is_near

    def of_places(self, commits: pa.Table) -> NDArray[np.bool_]:
        """Which commits are of partitions of departed members."""
        number = commits.column("topic_partition").to_numpy()
        group, topic = (commits.column(name).combine_chunks() for name in ("group", "topic"))
        is_sought: NDArray[np.bool_] = np.isin(self._keys(group, topic, number), self._places)
        is_sought &= number < self._numbers
        return is_sought

    def _keys(self, group: pa.Array, topic: pa.Array, number: NDArray[np.int32]) -> NDArray[np.int64]:
        of_group, of_topic = _codes(group, self._groups), _codes(topic, self._topics)
        return (of_group * (len(self._topics) + 1) + of_topic) * self._numbers + number


def _codes(texts: pa.Array, known: pa.Array) -> NDArray[np.int64]:
    """The index of each text in `known`; its length if it is not there."""
    encoded = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    codes = pc.fill_null(pc.index_in(encoded.dictionary.cast(pa.string()), known), len(known))
    of_each: NDArray[np.int64] = codes.to_numpy().astype(np.int64)[encoded.indices.to_numpy()]
    return of_each
