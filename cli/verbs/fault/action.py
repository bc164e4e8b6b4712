"""Faults of a running `kohort serve`, sent with a Kohort request in the format of a faults file (docs/serve.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from cli.errors import CommandError, RefusedError, UsageError
from cli.options import SourceOptions
from cli.output import notice, report
from cli.render.document import Document, table_of
from cli.selection import opened
from cli.sources.live import LiveSource
from cli.stopping import Stopped, awaiting_answers, name_of_signal
from cli.times import milliseconds
from cli.verbs.fault.options import RuleOptions
from groups.times import seconds_text
from wire.errors import WireError
from wire.messages.schemas.faults import CLEAR, DO, LIST

SHOWN = (
    *("ID", "FAULT", "API", "CLIENT", "GROUP", "TOPIC", "MEMBER"),
    *(("##REQUESTS", "applied"), "#TIMES-LEFT", "#ENDS-IN", "#CHANCE"),
)


def do(source: SourceOptions, event: dict[str, Any]) -> None:
    """Request an event, without its None fields, and print the outcome."""
    fields = {name: value for name, value in event.items() if value is not None}
    with _changing():
        answer = _request(source, operation=DO, event=json.dumps(fields))
        report(answer.outcome if answer.rule < 0 else f"fault {answer.rule} is in force")


def add_rule(source: SourceOptions, rule: RuleOptions, verb: str, value: Any) -> None:
    """Add a rule, and print its id."""
    do(
        source,
        {
            verb: value,
            "api": rule.api or None,
            "client": rule.client,
            "group": rule.group,
            "topic": rule.topic,
            "member": rule.member,
            "times": rule.times,
            "for": None if rule.for_ is None else milliseconds(rule.for_, "--for") / 1000,
            "chance": rule.chance,
            "seed": rule.seed,
        },
    )


def clear_rules(source: SourceOptions, ids: Sequence[int]) -> None:
    """Clear rules by their ids, or all rules, and print their number."""
    with _changing():
        report(f"{_request(source, operation=CLEAR, rules=list(ids) or None).outcome} cleared")


@contextmanager
def _changing() -> Iterator[None]:
    """The request and the report of a change: a signal ends the command once the answer is known, or may not come."""
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


def listed_rules(source: SourceOptions) -> Document:
    """The rules in force."""
    rules = [_rule(each) for each in _request(source, operation=LIST).rules]
    return Document(command="fault list", data={"faults": rules}, blocks=[table_of(rules, *SHOWN)])


def _rule(listed: Any) -> dict[str, Any]:
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
    """Seconds, or the shortest and longest: `2s`, `500ms-2s`. :raises UsageError:"""
    bounds = [milliseconds(part, "TIME") / 1000 for part in text.split("-")]
    return bounds[0] if len(bounds) == 1 else bounds


def _request(options: SourceOptions, **request: Any) -> Any:
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
