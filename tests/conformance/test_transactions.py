"""What is said of producers and their transactions: a real broker and `kohort serve` get the same requests."""

from collections.abc import Callable, Iterator

import pytest

from tests.conformance.servers import kohort_serve
from tests.conformance.transaction_stories import STORIES, TransactionAsker
from tests.kafka.broker import Broker

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with kohort_serve(tmp_path_factory.mktemp("transactions") / "log", {}) as port:
        yield port


@pytest.mark.parametrize("tell", STORIES, ids=lambda story: story.__name__.removeprefix("tell_of_"))
def test_producers_are_answered_as_by_a_broker(
    broker: Broker, served: int, tell: Callable[[TransactionAsker], None]
) -> None:
    for (word, ours), (_, real) in zip(_answers(served, tell), _answers(broker.port, tell), strict=True):
        assert ours == real, word


def _answers(port: int, tell: Callable[[TransactionAsker], None]) -> list[tuple[str, object]]:
    asker = TransactionAsker(port)
    try:
        tell(asker)
    finally:
        asker.delete()
        asker.close()
    return asker.answers
