"""What is said of records, to the byte: a real broker and `kohort serve` get the same requests."""

from collections.abc import Callable, Iterator

import pytest

from tests.conformance.record_stories import STORIES, Asker
from tests.conformance.servers import kohort_serve
from tests.kafka.broker import Broker


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with kohort_serve(tmp_path_factory.mktemp("records") / "log", {}) as port:
        yield port


@pytest.mark.parametrize("tell", STORIES, ids=lambda story: story.__name__.removeprefix("tell_of_"))
def test_records_are_answered_as_by_a_broker(
    broker: Broker, served: int, tell: Callable[[Asker], None]
) -> None:
    assert _answers(served, tell) == _answers(broker.port, tell)


def _answers(port: int, tell: Callable[[Asker], None]) -> list[tuple[str, object]]:
    asker = Asker(port)
    try:
        tell(asker)
    finally:
        asker.delete()
        asker.close()
    return asker.answers
