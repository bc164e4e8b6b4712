"""Changes to a configuration file leave the rest of it as it is: byte by byte, or they are not made."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.sources.contexts.nodes import parse_nodes, plain
from cli.verbs.context.edit import CannotEdit, Editor
from tests.support.long import cases

FILE = """\
# the clusters of the shop
current: production   # careful

contexts:
  # behind the firewall
  production:   # the real one
    bootstrap_server: [kafka-1:9093, "kafka-2:9093"]
    # asks the vault
    properties:
      sasl.password: {env: KAFKA_PASSWORD}

  # for tries
  staging: {bootstrap_server: 'staging:9092'}
# that is all
"""

EDITS: dict[str, tuple[Any, dict[str, str]]] = {
    "use": (lambda editor: editor.use("staging"), {"current: production ": "current: staging "}),
    "use-the-same": (lambda editor: editor.use("production"), {}),
    "use-none": (lambda editor: editor.use(None), {"current: production   # careful\n": ""}),
    "add": (
        lambda editor: editor.add("new", {"snapshot": "a b"}, current=False),
        {"9092'}\n": "9092'}\n  new:\n    snapshot: \"a b\"\n"},
    ),
    "add-and-use": (
        lambda editor: editor.add("new", {"log_dirs": ["/a", "-b"], "properties": {"a": {"env": "B"}}}, current=True),
        {
            "current: production ": "current: new ",
            "9092'}\n": "9092'}\n  new:\n    log_dirs:\n      - /a\n      - \"-b\"\n"
            "    properties:\n      a: {env: \"B\"}\n",
        },
    ),
    "rename": (
        lambda editor: editor.rename("production", "eu"),
        {"current: production ": "current: eu ", "  production:": "  eu:"},
    ),
    "rename-to-null": (lambda editor: editor.rename("staging", "null"), {"staging: {": "\"null\": {"}),
    "remove": (lambda editor: editor.remove("staging"), {"  staging: {bootstrap_server: 'staging:9092'}\n": ""}),
    "remove-the-current-one": (
        lambda editor: editor.remove("production"),
        {
            "current: production   # careful\n": "",
            FILE[FILE.index("  production:   #") : FILE.index("\n  # for tries")]: "",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize(("edit", "changes"), EDITS.values(), ids=EDITS.keys())
def test_only_what_is_meant_changes(edit: Any, changes: dict[str, str], ending: str) -> None:
    expected = FILE
    for old, new in changes.items():
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    assert edit(Editor(FILE.replace("\n", ending))) == expected.replace("\n", ending)


def test_comments_that_would_go_are_counted() -> None:
    editor = Editor(FILE)
    assert (editor.comments_in("production"), editor.comments_in("staging")) == (1, 0)


LAYOUTS = {
    "": "current: n\ncontexts:\n  n:\n    snapshot: s\n",
    "# mine": "# mine\ncurrent: n\ncontexts:\n  n:\n    snapshot: s\n",
    "kohort: 1": "current: n\nkohort: 1\ncontexts:\n  n:\n    snapshot: s\n",
    "contexts:": "current: n\ncontexts:\n  n:\n    snapshot: s\n",
    "contexts: {}  # none yet\n": "current: n\ncontexts: # none yet\n  n:\n    snapshot: s\n",
    "contexts: ~\ncurrent:\n": "contexts:\n  n:\n    snapshot: s\ncurrent: n\n",
    "---\ncontexts:\n    a: {embedded: e}\n...\n": "---\ncurrent: n\ncontexts:\n    a: {embedded: e}\n    n:\n"
    "      snapshot: s\n...\n",
    "{}": '{"current": "n", "contexts": {"n": {"snapshot": "s"}}}',
    '{"contexts": {}}\n': '{"current": "n", "contexts": {"n": {"snapshot": "s"}}}\n',
    '{"current": "a", "contexts": {"a": {"embedded": "e"}}}': '{"current": "n", "contexts": {"a": {"embedded": "e"}, '
    '"n": {"snapshot": "s"}}}',
    "contexts: {a: {embedded: e}, # x\n}": 'current: n\ncontexts: {a: {embedded: e}, "n": {"snapshot": "s"}, # x\n}',
    "contexts:\n  a:\n    embedded: >-\n      e\n\n# end": "current: n\ncontexts:\n  a:\n    embedded: >-\n      e\n\n"
    "  n:\n    snapshot: s\n# end",
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), LAYOUTS.items(), ids=map(repr, LAYOUTS))
def test_a_context_is_added_to_any_layout(before: str, after: str) -> None:
    assert Editor(before).add("n", {"snapshot": "s"}, current=True) == after


@pytest.mark.parametrize("text", ["contexts: [a]", "contexts: word", "- a", "current: [a]"])
def test_another_layout_is_not_edited(text: str) -> None:
    with pytest.raises(CannotEdit):
        Editor(text).add("n", {"snapshot": "s"}, current=True)


WORDS = st.sampled_from(
    ["a", "b c", "null", "x: y", "# no", "'", '"', "é\U0001f600", "\u2028", "\x85", "-", "{", "0x1"]
)
NAMES = st.sampled_from(["a", "null", "über"])
CONTEXTS = st.fixed_dictionaries(
    {"snapshot": WORDS}, optional={"properties": st.dictionaries(WORDS, WORDS, min_size=1)}
)
BEGINNINGS = st.sampled_from(
    [
        "",
        "# note\n",
        "kohort: 1",
        "# note\r\nkohort: 1\r\n\r\n# note\r\n",
        "---\n# note\ncontexts:\n  # note\n  a: {snapshot: s}\n# note\n",
        "contexts: {}  # note\n",
        "current:\ncontexts: ~",
        "{}",
        '{"contexts": {"a": {"snapshot": "s"}, "über": {"embedded": "e"}}, "current": "a"}\n',
    ]
)


@settings(max_examples=cases("KOHORT_EXAMPLES", 100, many=2_000), deadline=None)
@given(
    BEGINNINGS,
    st.lists(
        st.tuples(
            st.sampled_from(["use", "rename", "remove", "none"]), NAMES, NAMES, CONTEXTS, st.booleans()
        ),
        min_size=2,
        max_size=8,
    ),
)
def test_any_run_of_changes_does_what_it_says_or_nothing(text: str, changes: list[Any]) -> None:
    tree: Any = plain(parse_nodes(text)) or {}
    for verb, name, other, context, current in changes:
        contexts = dict(tree.get("contexts") or {})
        if verb == "none":
            new = _attempt(text, "use", None)
            tree.pop("current", None)
        elif name not in contexts:
            new = _attempt(text, "add", name, context, current=current)
            contexts[name] = context
            tree |= {"current": name} if current else {}
        elif verb == "use":
            new = _attempt(text, "use", name)
            tree["current"] = name
        elif verb == "remove":
            new = _attempt(text, "remove", name)
            del contexts[name]
            if tree.get("current") == name:
                del tree["current"]
        elif other not in contexts:
            new = _attempt(text, "rename", name, other)
            contexts = {other if key == name else key: value for key, value in contexts.items()}
            tree |= {"current": other} if tree.get("current") == name else {}
        else:
            continue
        if new is None:
            return
        after: Any = plain(parse_nodes(new)) or {}
        assert (after.get("current"), after.get("contexts") or {}) == (tree.get("current"), contexts)
        # No comment of anybody's own is lost.
        assert new.count("# note") == text.count("# note")
        text, tree = new, after


def _attempt(text: str, verb: str, *arguments: Any, **options: Any) -> str | None:
    try:
        changed: str = getattr(Editor(text), verb)(*arguments, **options)
    except CannotEdit:
        return None
    return changed
