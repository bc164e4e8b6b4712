"""The JSON document of `kohort why`, schema in docs/schemas/why.json."""

from collections.abc import Iterable, Mapping

from cli.findings import finding_data
from cli.render.document import fields
from cli.verbs.why.answer import Explanation, WhyAnswer
from groups.history.account import Account, Explained
from groups.history.causes import RebalanceCause
from groups.history.events import Holding, PastRebalance, Protocol
from groups.history.headline import headline
from groups.history.moment import Moment
from groups.history.pauses import ReadingPause
from groups.history.processes import MemberChange
from groups.history.storms import begin_of
from groups.model import by_topic
from groups.times import format_moment

_US = 1_000_000


def answer_data(answer: WhyAnswer) -> dict[str, object]:
    return {
        "source": answer.source,
        "from": moment_text(answer.since),
        "to": moment_text(answer.until),
        "complete_since": moment_text(answer.complete_since),
        "groups": [_group(explanation) for explanation in answer.explanations],
    }


def moment_text(time: int | None) -> str | None:
    """ISO 8601, UTC, of µs since 1970."""
    return None if time is None else format_moment(time // 1000)


def duration_s(explained: Explained) -> float | None:
    start, end = explained.rebalance.start, explained.rebalance.end
    return None if start is None or end is None else max(end - start, 0) / _US


def partition_of(rebalance: PastRebalance) -> int | None:
    """The partition of `__consumer_offsets` with its record; None: it was observed, and no record was read."""
    return None if rebalance.partition < 0 else rebalance.partition


def _group(explanation: Explanation) -> dict[str, object]:
    account = explanation.account
    return {
        "group": account.group,
        "headline": headline(account),
        "complete_since": moment_text(account.complete_since),
        "rebalances": [_rebalance(explained) for explained in account.rebalances],
        "storms": [_storm(account, storm) for storm in account.storms],
        "unread": _unread(account.pauses),
        "findings": list(map(finding_data, explanation.findings)),
        "at": None if explanation.moment is None else _moment(explanation.moment),
    }


def _rebalance(explained: Explained) -> dict[str, object]:
    rebalance = explained.rebalance
    number = "generation" if rebalance.protocol is Protocol.CLASSIC else "epoch"
    partition = partition_of(rebalance)
    return {
        **fields(rebalance, "group", "protocol"),
        "epoch": rebalance.epoch or None,
        "start": moment_text(rebalance.start),
        "end": moment_text(rebalance.end),
        "duration_s": duration_s(explained),
        "cause": rebalance.causes[0].value,
        "causes": [cause.value for cause in rebalance.causes],
        **fields(rebalance, "assignor", "members_before", "members"),
        "joined": list(rebalance.joined),
        "left": list(rebalance.left),
        "expired": sorted(one.member for one in rebalance.verdicts if one.cause is RebalanceCause.EXPIRY),
        **fields(rebalance, "partitions", "moved", "revoked", "skipped"),
        "without_owner_s": explained.without_owner_us / _US,
        "hosts": list(dict.fromkeys(one.process.host for one in explained.changes if one.process.host)),
        "changes": [_change(change) for change in explained.changes],
        "unread": _unread(explained.pauses),
        "evidence": {
            number: rebalance.epoch or None,
            "partition": partition,
            "offset": None if partition is None else rebalance.offset,
            "departed": [
                {
                    **fields(verdict, "member", "why"),
                    "verdict": verdict.cause.value,
                    "probably": verdict.probably and verdict.probably.value,
                }
                for verdict in rebalance.verdicts
            ],
        },
        "storm": explained.storm,
    }


def _change(change: MemberChange) -> dict[str, object]:
    return {
        "change": "joined" if change.cause is None else change.cause.value,
        **fields(change.record, "member", "instance", "client_id"),
        "host": change.process.host,
        "name": change.process.name,
        "other_member": change.other,
        "tied_by": change.tied_by and change.tied_by.value,
        "away_s": None if change.away_us is None else change.away_us / _US,
    }


def _storm(account: Account, storm: range) -> dict[str, object]:
    explained = [account.rebalances[index] for index in storm]
    return {
        "start": moment_text(begin_of(explained[0].rebalance)),
        "end": moment_text(explained[-1].rebalance.end),
        "rebalances": len(storm),
        "members": sorted({change.process.name for one in explained for change in one.changes}),
    }


def _unread(pauses: Iterable[ReadingPause]) -> list[Mapping[str, object]]:
    return [
        {
            "topic": pause.place[0],
            "partition": pause.place[1],
            "from": moment_text(pause.since),
            "to": moment_text(pause.until),
            "unread_s": None if pause.until is None else (pause.until - pause.since) / _US,
        }
        for pause in pauses
    ]


def _moment(moment: Moment) -> dict[str, object]:
    last = None if moment.last is None else moment.last.rebalance
    return {
        "time": moment_text(moment.at),
        "in_rebalance": moment.in_progress,
        "protocol": last and last.protocol.value,
        "epoch": last and last.epoch,
        "assignor": last and last.assignor,
        "owners": list(map(_owner, moment.owners)),
        "waits": [
            {
                "for": wait.awaited.value,
                "member": wait.member,
                "partitions": {topic: list(numbers) for topic, numbers in by_topic(wait.places).items()},
                "since": moment_text(wait.since),
                "until": moment_text(wait.until),
            }
            for wait in moment.waits
        ],
    }


def _owner(span: Holding) -> dict[str, object]:
    return {
        "topic": span.place[0],
        "partition": span.place[1],
        **fields(span, "member", "client_id"),
        "host": span.host and span.host.lstrip("/"),
        "since": moment_text(span.since),
        "until": moment_text(span.until),
    }
