"""Topics and partitions of `--topic`."""

import pytest

from groups.offsets.model import TopicScope, split_scopes

SCOPES = {
    "orders": [("orders", None)], " orders ": [("orders", None)],
    "orders,clicks": [("orders", None), ("clicks", None)], "orders , clicks": [("orders", None), ("clicks", None)],
    "orders:0,1": [("orders", (0, 1))], "orders: 0, 1 ,0": [("orders", (0, 1))],
    "orders:0,1,clicks:2,pay-1": [("orders", (0, 1)), ("clicks", (2,)), ("pay-1", None)],
    "7,8": [("7", None), ("8", None)], "7:8,9": [("7", (8, 9))],
}  # fmt: skip


@pytest.mark.parametrize(("text", "scopes"), SCOPES.items())
def test_commas_separate_topics_and_after_a_colon_partitions(
    text: str, scopes: list[tuple[str, tuple[int, ...] | None]]
) -> None:
    assert split_scopes(text) == tuple(TopicScope(*scope) for scope in scopes)


REFUSED = {
    "": "'' names no topic", "orders,": "names no topic", ",orders": "names no topic", ":0": "names no topic",
    "or ders": "'or ders' is not a topic's name", "orders,b/c": "'b/c' is not a topic's name",
    "..": "'..' is not a topic's name", "a:b:0": "'a:b' is not a topic's name", "ü": "'ü' is not a topic's name",
    "a" * 250: "is not a topic's name",
    "orders:": "'' is not a valid partition", "orders:x": "'x' is not a valid partit",
    "orders:-1": "'-1' is not a valid partition", "orders:0,-1": "'-1' is not a valid partition",
    "orders:0,": "'' is not a valid partition", "orders:2147483648": "'2147483648' is not a valid partition",
}  # fmt: skip


@pytest.mark.parametrize(("text", "why"), REFUSED.items())
def test_a_name_that_no_topic_has_is_refused_before_a_broker_is_asked(text: str, why: str) -> None:
    with pytest.raises(
        ValueError, match="expected TOPIC or TOPIC:0,1, with commas between topics"
    ) as refused:
        split_scopes(text)
    assert why in str(refused.value)
