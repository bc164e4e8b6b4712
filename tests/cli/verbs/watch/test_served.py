"""A group of a running `kohort serve --data DIR`, watched over its port and in its directory at once."""

from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.cli.command import Kohort
from tests.cli.served_data import serving
from tests.cli.verbs.watch.running import Running, happened, in_pipe, observations
from tests.kafka.ports import HOST

pytestmark = pytest.mark.usefixtures("handled_interrupts")

GROUP, TOPIC = "watched", "orders"
COMMITS = 300


def committed(running: Running) -> list[int]:
    """The offsets that a watch observed, in order."""
    groups = [observation["groups"].get(GROUP) for observation in observations(running.documents)]
    offsets = [group["offsets"][TOPIC]["0"] for group in groups if group and group.get("offsets")]
    return [offset["offset"] if isinstance(offset, dict) else offset for offset in offsets]


def test_both_see_what_is_written_while_they_look(kohort: Kohort, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with ExitStack() as stack:
        served = stack.enter_context(serving(data, "--topic", f"{TOPIC}:1"))
        address = f"{HOST}:{served.port}"

        def running(line: str) -> list[Running]:
            """The command on both sources."""
            sources: dict[str, list[str | Path]] = {
                "port": ["-b", address],
                "directory": ["--embedded", data],
            }
            return [
                stack.enter_context(in_pipe(kohort, tmp_path, line, *source, name=f"{line[:4]}-{name}"))
                for name, source in sources.items()
            ]

        watches = running(f"watch {GROUP} --every 0.05 --output json")
        lists = running("list --watch 0.1 --output json")
        for watch in watches:
            watch.wait_for(lambda one: observations(one.documents), "the first look, at no group")
            assert observations(watch.documents)[0]["groups"] == {GROUP: None}
        for list_ in lists:
            list_.wait_for(lambda one: one.documents, "the first list, an empty one")
            assert list_.documents[0]["groups"] == []
        with closing(Consumer({"bootstrap.servers": address, "group.id": GROUP})) as consumer:
            for offset in range(COMMITS):
                consumer.commit(offsets=[TopicPartition(TOPIC, 0, offset)], asynchronous=False)
        for watch in watches:
            watch.wait_for(lambda one: committed(one)[-1:] == [COMMITS - 1], "the last commit")
            observation = committed(watch)
            assert observation == sorted(observation)
            assert happened(watch.documents, "group-appeared")
            assert [one["errors"] for one in observations(watch.documents) if one["errors"]] == []
        for list_ in lists:
            list_.wait_for(lambda one: one.documents[-1]["groups"], "the group")
        assert lists[0].documents[-1]["groups"] == lists[1].documents[-1]["groups"]
        assert [run.interrupt() for run in (*watches, *lists)] == [0] * 4
        assert "Traceback" not in "".join(watch.stderr for watch in watches)
