"""Every option that is a duration or a time reads all the forms of `groups.times`."""

from pathlib import Path

import pytest

from tests.cli.command import Kohort, commands

BY_THE_COMMAND = {
    "--at", "--by-duration", "--catch-up", "--commit-interval", "--expires-within", "--for", "--interval", "--keep",
    "--loading", "--rebalance-time", "--transaction-time", "--unused-for", "--wait-empty", "time",
    "--as-of", "--from", "--since", "--to", "--to-datetime", "--until",
}  # fmt: skip
"""Options with the metavar DURATION or TIME that are texts: the command reads them, with `cli.times`."""
FORMS = {"90s": 90, "PT1M30S": 90, "1.5m": 90, "90000ms": 90, "1 min 30 s": 90, "1m30s": 90}


def test_every_duration_is_read_in_every_form_and_in_the_option_s_unit() -> None:
    parsed, texts = set(), set()
    for name, command in commands().items():
        for parameter in command.params:
            option, metavar = parameter.opts[0], parameter.metavar or ""
            assert metavar not in ("SECONDS", "[SECONDS]", "MS"), (name, option)
            if not any(word in metavar for word in ("DURATION", "TIME")) or "TIMES" in metavar:
                continue
            if not hasattr(parameter.type, "func"):
                texts.add(option)
                continue
            parsed.add(option)
            unit = 1000 if option in ("--timeout", "--session-timeout") else 1
            for text, seconds in {**FORMS, f"{90 * unit}": 90}.items():
                assert parameter.type.func(text) == seconds * unit, (name, option, text)
    assert parsed == {
        "--bounce-seconds",
        "--every",
        "--for",
        "--gate-timeout",
        "--pause",
        "--restart-timeout",
        "--return-timeout",
        "--session-timeout",
        "--time-limit",
        "--timeout",
        "--wait",
        "--watch",
    }
    assert texts == BY_THE_COMMAND


COMMANDS = {
    "diagnose --all-groups --rebalance-time PT15S --commit-interval 5000ms --catch-up 1.5h --transaction-time 1m "
    "--expires-within P1D --embedded {sample}": "",
    "list --unused-for P30D --embedded {sample}": "",
    "list --log-dir /nowhere --as-of 2h": "/nowhere",
    "log dump /nowhere --from PT2H --to now": "/nowhere",
    "delete --all-groups --unused-for 2w --wait-empty PT5S --execute --yes --embedded {sample}": "leave --wait-empty",
    "exporter --interval PT0.5S -b 127.0.0.1:1": "polls are at least a second",
    "gate --wait PT2H /nowhere/plan.yaml --step 1": "/nowhere/plan.yaml",
    "diagnose --all-groups --for PT6S --embedded {sample}": "--for needs a live cluster",
    "fault delay PT0.5S-2s --for 5x -b 127.0.0.1:1": "--for: '5x' is not a duration: write 5s, 1.5m, 2h",
    "fault crash billing --for soon -b 127.0.0.1:1": "--for: 'soon' is not a duration: write 5s, 1.5m, 2h",
    "offsets reset g --topic t --to-datetime 2x": "--to-datetime: '2x' is not a time: write 2026-03-01T12:00:00Z",
}


@pytest.mark.parametrize(("line", "why"), COMMANDS.items())
def test_a_command_reads_every_form(kohort: Kohort, sample: Path, line: str, why: str) -> None:
    answer = kohort.quick(*line.replace("{sample}", str(sample)).split())
    assert why in answer.stderr if why else answer.status in (0, 1)
