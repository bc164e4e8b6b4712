"""`kohort apply` on a real broker: what differs, what is changed, and that it is the same the second time."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cli.errors import UsageError
from cli.verbs.apply.desired import read_desired
from tests.cli.command import Kohort
from tests.cli.offset_rig import OffsetRig
from tests.cli.schemas import load
from tests.cli.stories import Story
from tests.kafka.tool_host import SHARE_GROUPS
from tests.support.golden import assert_recorded
from tests.support.long import cases

SESSION = "consumer.session.timeout.ms"


class ApplyStory(Story):
    """A story with a file of groups."""

    def apply(self, groups: str, *options: str) -> None:
        """Write the groups, in the story's names, and apply the file."""
        file = Path(self.names["file"])
        text = groups
        for name, real in self.names.items():
            text = re.sub(rf"\b{name}\b", real, text)
        file.write_text(f"kohort: 1\ngroups: {text}\n")
        for option in options:
            self.tell(f"apply {{file}} {option}", note=groups)


CHECK, EXECUTE = "--check", "--execute --yes"


def test_differences_have_the_recorded_answers(rig: OffsetRig, tmp_path: Path) -> None:
    story = ApplyStory(rig, orders=rig.topic([20, 20, 20]), file=str(tmp_path / "groups.yaml"))
    story.group("payments", {0: 3, 1: 4})
    story.group("old", {0: 1})
    story.name("gone")
    offsets = "{orders: {0: 9, 1: latest, 2: '2026-01-01T00:07:00Z'}}"
    settings = f"{{{SESSION}: 46000}}"
    deletions = "old: {delete: true}, gone: {delete: true}"
    groups = f"{{payments: {{settings: {settings}, offsets: {offsets}}}, {deletions}}}"
    story.apply(groups, CHECK, "")
    story.committed("payments")
    story.apply(groups, EXECUTE)
    story.committed("payments")
    story.apply(groups, CHECK, EXECUTE, "")
    cleared = "{payments: {offsets: {orders: {1: none, 2: 7}}}, gone: {offsets: {orders: none}}}"
    story.apply(cleared, EXECUTE, CHECK)
    story.committed("payments")
    story.apply(
        f"{{payments: {{settings: {{{SESSION}: null}}, offsets: {{orders: earliest}}}}}}", EXECUTE, CHECK
    )
    story.committed("payments")
    story.is_as_recorded("apply/differences.txt")


def test_what_cannot_be_applied_has_the_recorded_answers(rig: OffsetRig, tmp_path: Path) -> None:
    story = ApplyStory(rig, orders=rig.topic([5]), file=str(tmp_path / "groups.yaml"))
    for name in ("active", "free", "other"):
        story.group(name, {0: 2})
    both = f"{{active: {{settings: {{{SESSION}: 46000}}, offsets: {{orders: 3}}}}, free: {{offsets: {{orders: 4}}}}}}"
    with story.joined("active"):
        story.apply("{active: {offsets: {orders: 2}}}", CHECK)
        story.apply(both, CHECK, EXECUTE)
        story.apply("{active: {offsets: {orders: none}}}", CHECK)
        story.apply("{active: {delete: true}}", f"{EXECUTE} --wait-empty 100ms")
        story.committed("active", "free")
    story.apply("{free: {offsets: {orders: 1}}, x: {settings: {consumer.sesion.timeout.ms: 45000}}}", EXECUTE)
    story.apply(f"{{free: {{settings: {{{SESSION}: 1}}, offsets: {{orders: 1}}}}}}", EXECUTE)
    story.apply("{free: {offsets: {orders: 77}}}", "")
    story.apply(
        "{other: {offsets: {orders: 4}}, free: {offsets: {no-such-topic: 1, orders: {7: 1}}}}", EXECUTE
    )
    story.apply("{free: {offsets: {no topic: 1}}}", CHECK, f"{CHECK} {EXECUTE}")
    story.committed("free", "other")
    story.is_as_recorded("apply/refusals.txt")


@pytest.mark.kafka
def test_a_share_group_starts_where_the_file_says(rig: OffsetRig, tmp_path: Path) -> None:
    story = ApplyStory(rig, orders=rig.topic([10, 6]), file=str(tmp_path / "groups.yaml"))
    story.name("shared")
    made = ["--group", story.names["shared"], "--topic", story.names["orders"], "--to-earliest"]
    done = rig.tools.ask(rig.broker, SHARE_GROUPS, "--reset-offsets", "--execute", *made)
    assert done.returncode == 0
    settings = "{share.auto.offset.reset: earliest}"
    story.apply(f"{{shared: {{settings: {settings}, offsets: {{orders: {{0: 4, 1: 0}}}}}}}}", EXECUTE, CHECK)
    story.apply("{shared: {delete: true}}", EXECUTE, CHECK)
    story.is_as_recorded("apply/share.txt")


MISTAKES = [
    "kohort: 1\ngroups:\n  a: {setings: {}}\n",
    "kohort: 1\ngroups:\n  a: {}\n  a: {}\n",
    "kohort: 1\ngroups:\n  a:\n    delete: yes\n",
    "kohort: 1\ngroups:\n  a: {delete: true, offsets: {}}\n",
    "kohort: 1\ngroups:\n  a:\n    offsets:\n      t: {0: earlyest}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: -3}}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: 2026-13-01}}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: 99999999999999999999}}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: {one: 3}}}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: {0: 1, 00: 2}}}\n",
    "kohort: 1\ngroups:\n  a: {offsets: {t: null}}\n",
    "kohort: 1\ngroups:\n  a: {settings: {b: [1]}}\n",
    "kohort: 1\ngroups: [a]\n",
    "kohort: 2\ngroups: {}\n",
    "kohort: 1\ngroup: {}\n",
    '{"kohort": 1, "groups": {"a": {"delete": 1}}}',
    "groups: {}\n",
    "kohort: 1\ngroups: {a: {b\n",
    "",
]


def test_mistakes_in_the_file_have_the_recorded_answers(kohort: Kohort, tmp_path: Path) -> None:
    file, answers = tmp_path / "groups.yaml", {}
    for text in MISTAKES:
        file.write_text(text)
        answer = kohort.quick("apply", file, "-b", "localhost:1")
        assert answer.status == 2
        answers[repr(text)] = answer.stderr.replace(str(tmp_path), "")
    assert_recorded("apply/mistakes.txt", answers)


def test_standard_input_is_a_file(kohort: Kohort) -> None:
    answer = kohort.quick("apply", "-", "-b", "localhost:1", stdin="kohort: 1\ngroups:\n  a: {delete: 2}\n")
    answer.assert_refused("-:3: groups.a.delete")


def test_previews_of_a_directory_leave_out_settings(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text("kohort: 1\ngroups:\n  nightly-report: {delete: true}\n")
    answer = kohort.quick("apply", file, "--embedded", sample, "--output", "json").succeeded()
    assert answer.document["groups"][0]["delete"] is True
    kohort.quick("apply", file, "--embedded", sample, "--check").assert_said(1)
    file.write_text(f"kohort: 1\ngroups:\n  nightly-report: {{settings: {{{SESSION}: 45000}}}}\n")
    kohort.quick("apply", file, "--embedded", sample).assert_refused("only on a live cluster")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**70),
    st.floats(allow_nan=False),
    st.sampled_from(["earliest", "latest", "2026-01-01", "2026-01-01T00:00:00Z", "true", "0", "x"]),
    st.text(max_size=5),
)
NAMES = st.one_of(
    st.sampled_from(["kohort", "groups", "settings", "offsets", "delete", "0", "1", "orders"]),
    st.text(max_size=5),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "settings": st.dictionaries(NAMES, SCALARS, max_size=3) | TREES,
        "offsets": st.dictionaries(NAMES, SCALARS | st.dictionaries(NAMES, SCALARS, max_size=3), max_size=3)
        | TREES,
        "delete": st.booleans() | SCALARS,
    },
)
DOCUMENTS = TREES | st.fixed_dictionaries(
    {"kohort": st.just(1), "groups": st.dictionaries(NAMES, ENTRIES | TREES, max_size=3) | TREES}
)


@settings(max_examples=cases("KOHORT_FUZZ_CASES", 75, many=20_000), deadline=None)
@given(DOCUMENTS, st.booleans())
def test_any_file_is_read_or_refused_and_what_is_read_fits_the_schema(
    tmp_path_factory: pytest.TempPathFactory, tree: Any, as_yaml: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    text = yaml.safe_dump(tree, allow_unicode=True) if as_yaml else json.dumps(tree)
    file.write_text(text, encoding="utf-8")
    refused: list[str] = []
    try:
        read_desired(file)
    except UsageError as error:
        refused.append(str(error))
    assert all(text.startswith(str(file)) for text in refused)
    if not refused and not as_yaml:  # YAML's words keep their text: `0` may be a number or not
        validator = Draft202012Validator(load("groups-file"))
        faults = [
            iter_error for iter_error in validator.iter_errors(tree) if not _is_lenient(iter_error.instance)
        ]
        assert faults == []


def _is_lenient(value: Any) -> bool:
    """Texts that are read as what they say: "true", "3"."""
    return isinstance(value, str)
