"""What a command says when a signal stops it after its change was sent."""

import signal

import pytest
import typer

from cli.output import notice
from cli.stopping import Stop, awaiting_answers, stoppable


def _run(before: int, printing: int, closing: int) -> None:
    with stoppable():
        try:
            _signal(before)
            with awaiting_answers(notice) as stop:
                stop.is_over = True
                _signal(printing)
                notice("deleted billing")
            if stop.status is not None:
                raise typer.Exit(stop.status)
        finally:
            _signal(closing)


def _signal(times: int) -> None:
    for _ in range(times):
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize(
    ("signals", "is_changed"), [((1, 0, 0), False), ((0, 1, 0), True), ((0, 2, 0), True), ((0, 0, 1), True)]
)
def test_a_signal_after_a_change_never_denies_it(
    signals: tuple[int, int, int], is_changed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended:
        _run(*signals)
    assert ended.value.exit_code == 128 + signal.SIGTERM
    said = capsys.readouterr().err
    assert ("deleted billing" in said, "nothing was changed" in said) == (is_changed, not is_changed)


def test_each_command_begins_with_nothing_sent() -> None:
    Stop.any_sent = True
    with stoppable():
        assert not Stop.any_sent
