"""A group of a running `kohort serve --data DIR`, watched over its port and in its directory at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.cli.command import Kohort
from tests.cli.served_data import Served, serving
from tests.cli.verbs.watch.running import Running, happened, in_pipe, observations
from tests.kafka.ports import HOST

pytestmark = pytest.mark.usefixtures("heeded_interrupts")

GROUP, TOPIC = "watched", "orders"
COMMITS = 300


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A coordinator with a topic, whose directory is `data`."""
    with serving(tmp_path / "data", "--topic", f"{TOPIC}:1") as served:
        yield served


def committed(running: Running) -> list[int]:
    """The offsets that a watch saw, look by look."""
    looks = [each["groups"].get(GROUP) for each in observations(running.documents)]
    told = [group["offsets"][TOPIC]["0"] for group in looks if group and group.get("offsets")]
    return [each["offset"] if isinstance(each, dict) else each for each in told]


def test_both_see_what_is_written_while_they_look(kohort: Kohort, tmp_path: Path, served: Served) -> None:
    address = f"{HOST}:{served.port}"
    watch = ["watch", GROUP, "--every", "0.05", "--output", "json"]
    with (
        closing(Consumer({"bootstrap.servers": address, "group.id": GROUP})) as consumer,
        in_pipe(kohort, tmp_path, *watch, "-b", address, name="port") as port,
        in_pipe(kohort, tmp_path, *watch, "--embedded", tmp_path / "data", name="directory") as directory,
    ):

        def commit(offset: int) -> None:
            consumer.commit(offsets=[TopicPartition(TOPIC, 0, offset)], asynchronous=False)

        for running in (port, directory):
            running.wait_for(lambda each: observations(each.documents), "the first look, at no group")
            assert observations(running.documents)[0]["groups"] == {GROUP: None}
        for offset in range(COMMITS):
            commit(offset)
        for running in (port, directory):
            running.wait_for(lambda each: committed(each)[-1:] == [COMMITS - 1], "the last commit")
            assert committed(running) == sorted(committed(running))
            assert happened(running.documents, "group-appeared")
            assert [each["errors"] for each in observations(running.documents) if each["errors"]] == []
        assert [running.interrupt() for running in (port, directory)] == [0, 0]
        assert "Traceback" not in port.stderr + directory.stderr


def test_repeated_lists_of_both_agree(kohort: Kohort, tmp_path: Path, served: Served) -> None:
    address = f"{HOST}:{served.port}"
    listing = ["list", "--watch", "0.1", "--output", "json"]
    with (
        in_pipe(kohort, tmp_path, *listing, "-b", address, name="port") as port,
        in_pipe(kohort, tmp_path, *listing, "--embedded", tmp_path / "data", name="directory") as directory,
    ):
        for running in (port, directory):
            running.wait_for(lambda each: each.documents, "the first list, an empty one")
            assert running.documents[0]["groups"] == []
        with closing(Consumer({"bootstrap.servers": address, "group.id": GROUP})) as consumer:
            consumer.commit(offsets=[TopicPartition(TOPIC, 0, 1)], asynchronous=False)
        for running in (port, directory):
            running.wait_for(lambda each: each.documents[-1]["groups"], "the group")
        assert port.documents[-1]["groups"] == directory.documents[-1]["groups"]
        assert [running.interrupt() for running in (port, directory)] == [0, 0]
