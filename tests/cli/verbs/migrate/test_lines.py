"""What a run prints into a pipe: a line per event."""

import json
from collections.abc import Iterable, Mapping
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.verbs.migrate.event_documents import Event
from cli.verbs.migrate.lines import Lines, event_texts
from tests.cli.schemas import faults
from tests.cli.verbs.migrate.stories import STORIES, others, rolled_back, stopped
from tests.support.golden import assert_recorded

DOCUMENTS = [document for story in STORIES.values() for document in story().documents]
KINDS = [*{str(document["event"]): 0 for document in DOCUMENTS}, "bridge", "lunch", ""]
FIELDS = sorted({name for document in DOCUMENTS for name in document} - {"event"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
DAMAGED = st.builds(
    lambda kind, more: {"event": kind, **more},
    st.sampled_from(KINDS) | JSON,
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8),
)
"""Documents that anything may have been done to."""


def printed(
    documents: Iterable[Mapping[str, object]], capsys: pytest.CaptureFixture[str], *, several: bool
) -> str:
    lines = Lines(several=several)
    for document in documents:
        lines.event(document)
    return capsys.readouterr().out


def test_each_event_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    answers = {name: printed(story().documents, capsys, several=False) for name, story in STORIES.items()}
    answers["several groups"] = printed(rolled_back().documents[:6], capsys, several=True)
    answers["damaged, and of another version"] = printed(others(), capsys, several=False)
    assert_recorded("migrate/lines.txt", answers)


def test_events_match_the_schema() -> None:
    assert [faults(json.loads(json.dumps(document))) for document in DOCUMENTS] == [[]] * len(DOCUMENTS)


@given(DAMAGED)
def test_no_document_is_an_error_or_controls_a_terminal(document: dict[str, object]) -> None:
    for text in event_texts(Event(json.loads(json.dumps(document)))):
        assert isinstance(text, str)


def test_a_reader_that_has_left_does_not_end_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Full(StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

        def fileno(self) -> int:
            return 1

    monkeypatch.setattr("cli.output.discard", lambda _: None)
    monkeypatch.setattr("sys.stdout", Full())
    lines = Lines(several=False)
    for document in stopped().documents:
        lines.event(document)
    assert capsys.readouterr().err == (
        "kohort: standard output cannot be written: No space left on device: the run continues\n"
    )
