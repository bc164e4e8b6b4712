"""`kohort fault …`: faults of a running `kohort serve`, in the format of a faults file (docs/serve.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import OutputOptions, SourceOptions, option

if TYPE_CHECKING:
    from cli.render.document import Document
    from wire.messages.schemas.faults import KohortFaultResponse, KohortFaultResponseRule


def _argument(metavar: str, help_text: str, **settings: Any) -> Any:
    return typer.Argument(metavar=metavar, help=help_text, show_default=False, **settings)


_API = option("--api", "Only this API, such as Heartbeat; repeatable.", "NAME")
_CLIENT = option("--client", "Only requests of this client id; * and ? as in a shell.", "ID")
_MEMBER = option("--member", "Only requests that name this member id.", "MEMBER")
_FOR = option("--for", "Only for this long: 30s, 500ms, 1m; otherwise until cleared.", "TIME")
_CHANCE = option("--chance", "Only this fraction of the requests, from 0 to 1.", "0.1", min=0, max=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions:
    api: Annotated[list[str] | None, _API] = None
    client: Annotated[str | None, _CLIENT] = None
    group: Annotated[str | None, option("--group", "Only requests that name this group.", "GROUP")] = None
    topic: Annotated[str | None, option("--topic", "Only requests that name this topic.", "TOPIC")] = None
    member: Annotated[str | None, _MEMBER] = None
    times: Annotated[int | None, option("--times", "Only the first N requests.", "N", min=1)] = None
    for_: Annotated[str | None, _FOR] = None
    chance: Annotated[float | None, _CHANCE] = None
    seed: Annotated[int | None, option("--seed", "Seed of the random choice of --chance.", "N", min=0)] = None


class TopicChange(Enum):
    CREATE = "create"
    GROW = "grow"
    RECREATE = "recreate"
    DELETE = "delete"


_BY_ANY_ID = "Its member id, instance id, or client id (all members with it)."
Group = Annotated[str, _argument("GROUP", "Group id.")]
Member = Annotated[str, _argument("MEMBER", _BY_ANY_ID)]


def delay(
    *,
    time: Annotated[str, _argument("TIME", "How long: 2s, 500ms, or 500ms-2s.")],
    rule: RuleOptions,
    source: SourceOptions,
) -> None:
    """Delay the handling of requests.

    \b
    Examples:
      kohort fault delay 2s --api Heartbeat --group billing -b localhost:9092
    """
    add_rule(source, rule, "delay", delay_of(time))


def error(
    *,
    code: Annotated[str, _argument("ERROR", "Kafka's name of the error, such as NOT_COORDINATOR.")],
    rule: RuleOptions,
    source: SourceOptions,
) -> None:
    """Answer requests with an error; they are not handled.

    \b
    Examples:
      kohort fault error NOT_COORDINATOR --group billing -b localhost:9092
    """
    add_rule(source, rule, "error", code.upper())


def drop(
    *,
    close: Annotated[
        bool, option("--close", "Close the connection; otherwise it stays open without an answer.")
    ] = False,
    rule: RuleOptions,
    source: SourceOptions,
) -> None:
    """Drop requests: they are not handled or answered.

    \b
    Examples:
      kohort fault drop --api OffsetCommit --times 3 -b localhost:9092
    """
    add_rule(source, rule, "drop", "connection" if close else "answer")


def expire(*, group: Group, member: Member, source: SourceOptions) -> None:
    """Expire the session of a member.

    \b
    Examples:
      kohort fault expire billing billing-1 -b localhost:9092
    """
    do(source, {"expire": member, "group": group})


def fence(
    *,
    group: Group,
    member: Annotated[str | None, _argument("[MEMBER]", _BY_ANY_ID)] = None,
    instance: Annotated[str | None, option("--instance", "A static member by its instance id.", "ID")] = None,
    source: SourceOptions,
) -> None:
    """Fence a member, as if another process took its place.

    A dynamic member is removed, as if an administrator removed it.

    \b
    Examples:
      kohort fault fence billing --instance billing-1 -b localhost:9092
    """
    do(source, {"fence": _only_one(member, instance), "group": group})


def disconnect(*, client: Annotated[str, _argument("CLIENT", "Client id.")], source: SourceOptions) -> None:
    """Close the connections of a client.

    \b
    Examples:
      kohort fault disconnect billing-1 -b localhost:9092
    """
    do(source, {"disconnect": client})


def move(
    *,
    group: Group,
    to: Annotated[
        int | None, option("--to", "Broker to move to; by default the next one.", "BROKER", min=0)
    ] = None,
    loading: Annotated[
        str, option("--loading", "How long the new coordinator loads: 2s, 500ms.", "TIME")
    ] = "0",
    source: SourceOptions,
) -> None:
    """Move the coordinator of a group to another broker.

    The old one answers NOT_COORDINATOR, the new one COORDINATOR_LOAD_IN_PROGRESS until it has loaded.

    \b
    Examples:
      kohort fault move billing --loading 2s -b localhost:9092
    """
    do(source, {"coordinator": "move", "group": group, "to": to, "for": _seconds(loading, "--loading")})


def crash(
    *,
    group: Group,
    for_: Annotated[str, option("--for", "How long it is down: 3s, 500ms.", "TIME")] = "0",
    source: SourceOptions,
) -> None:
    """Crash and restart the coordinator of a group.

    \b
    Examples:
      kohort fault crash billing --for 3s -b localhost:9092
    """
    do(source, {"coordinator": "crash", "group": group, "for": _seconds(for_, "--for")})


def topic(
    *,
    change: Annotated[TopicChange, _argument("CHANGE", "create, grow, recreate or delete.")],
    name: Annotated[str, _argument("TOPIC", "Topic.")],
    partitions: Annotated[int | None, _argument("[PARTITIONS]", "New number of partitions.", min=1)] = None,
    source: SourceOptions,
) -> None:
    """Create, grow, recreate or delete a topic.

    A recreated topic has another topic id.

    \b
    Examples:
      kohort fault topic grow orders 12 -b localhost:9092
    """
    do(source, {"topic": name, **_topic_change(change, partitions)})


def list_rules(*, source: SourceOptions, output: OutputOptions) -> None:
    """List active faults.

    \b
    Examples:
      kohort fault list -b localhost:9092
    """
    from cli.output import emit

    emit(_rules_document(source), output)


def clear(
    *,
    ids: Annotated[list[int] | None, _argument("[ID]…", "Only these faults; otherwise all.")] = None,
    source: SourceOptions,
) -> None:
    """Clear active faults.

    \b
    Examples:
      kohort fault clear -b localhost:9092
    """
    from cli.output import report
    from wire.messages.schemas.faults import CLEAR

    with _changing():
        report(f"{_request(source, operation=CLEAR, rules=ids or None).outcome} cleared")


def _only_one(member: str | None, instance: str | None) -> str | None:
    from cli.errors import UsageError

    if (member is None) is (instance is None):
        raise UsageError("name the member, or its --instance")
    return member or instance


def _topic_change(change: TopicChange, partitions: int | None) -> dict[str, object]:
    from cli.errors import UsageError

    if (partitions is None) is not (change is TopicChange.DELETE):
        needs = "has no number of partitions" if partitions else "needs the number of partitions"
        raise UsageError(f"topic {change.value} {needs}: kohort fault topic grow orders 12")
    key = "partitions" if change is TopicChange.GROW else change.value
    return {key: True if partitions is None else partitions}


def _rules_document(source: SourceOptions) -> Document:
    from cli.render.document import Document, table_of
    from wire.messages.schemas.faults import LIST

    rules = [_rule(rule) for rule in _request(source, operation=LIST).rules]
    columns = (
        *("ID", "FAULT", "API", "CLIENT", "GROUP", "TOPIC", "MEMBER"),
        *(("##REQUESTS", "applied"), "#TIMES-LEFT", "#ENDS-IN", "#CHANCE"),
    )
    return Document(command="fault list", data={"faults": rules}, blocks=[table_of(rules, *columns)])


def do(source: SourceOptions, event: dict[str, Any]) -> None:
    """Request an event, without its None fields, and print the outcome."""
    from cli.output import report
    from wire.messages.schemas.faults import DO

    fields = {name: value for name, value in event.items() if value is not None}
    with _changing():
        answer = _request(source, operation=DO, event=json.dumps(fields))
        report(answer.outcome or "" if answer.rule < 0 else f"fault {answer.rule} is in force")


def add_rule(source: SourceOptions, rule: RuleOptions, verb: str, value: object) -> None:
    limits = asdict(rule)
    for_ = limits.pop("for_")
    do(source, {verb: value, **limits, "for": None if for_ is None else _seconds(for_, "--for")})


@contextmanager
def _changing() -> Iterator[None]:
    """The request and the report of a change: a signal ends the command once the answer is known, or may not come."""
    from cli.output import notice
    from cli.stopping import Stopped, awaiting_answers, name_of_signal
    from wire.errors import WireError

    with awaiting_answers(notice) as stop:
        try:
            yield
        except (WireError, Stopped) as error:
            if not getattr(error, "is_unsent", False):
                notice("The change may have been made: kohort fault list shows whether it was.")
            if stop.status is None:
                raise
            notice(str(error) or f"stopped by {name_of_signal(stop.number or 0)}")
    if stop.status is not None:
        raise typer.Exit(stop.status)


def _rule(listed: KohortFaultResponseRule) -> dict[str, object]:
    from groups.times import seconds_text

    event = json.loads(listed.event)
    verb, value = next(iter(event.items()))
    if verb == "delay":
        bounds = value if isinstance(value, list) else [value]
        value = "-".join(map(seconds_text, bounds))
    apis = event.get("api", [])
    return {
        "id": listed.id,
        "fault": f"{verb} {value}",
        "api": ", ".join([apis] if isinstance(apis, str) else apis) or None,
        **{key: event.get(key) for key in ("client", "group", "topic", "member")},
        "applied": listed.applied,
        "times_left": None if listed.times_left < 0 else listed.times_left,
        "ends_in_s": None if listed.left_ms < 0 else listed.left_ms / 1000,
        "chance": event.get("chance", 1.0),
    }


def delay_of(text: str) -> float | list[float]:
    """Seconds, or the shortest and longest: `2s`, `500ms-2s`."""
    bounds = [_seconds(part, "TIME") for part in text.split("-")]
    return bounds[0] if len(bounds) == 1 else bounds


def _seconds(text: str, option_name: str) -> float:
    from cli.times import milliseconds

    return milliseconds(text, option_name) / 1000


def _request(options: SourceOptions, **request: Any) -> KohortFaultResponse:
    from cli.errors import CommandError, RefusedError, UsageError
    from cli.selection import opened
    from cli.sources.live import LiveSource
    from wire.client.errors import KafkaError, UnsupportedApi
    from wire.client.faults import ask_for_fault, fault_client

    with opened(options) as source:
        if not isinstance(source, LiveSource):
            raise UsageError(
                f"faults need a running kohort serve, not {source.name}: name one with --bootstrap-server"
            )
        with fault_client(source.settings) as client:
            try:
                return ask_for_fault(client, options.timeout_ms, **request)
            except UnsupportedApi as error:
                raise CommandError(str(error)) from None
            except KafkaError as error:
                raise RefusedError(str(error)) from None
