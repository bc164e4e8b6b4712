"""The servers that applications run on: a real broker, and `kohort serve` as it is started in three ways."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.conformance.servers import Embedded, kohort_serve
from tests.kafka.broker import Broker

REAL = "real"
SERVED: Mapping[str, Callable[[Path], tuple[str, ...]]] = {
    "serve": lambda _: (),
    "serve --data": lambda directory: ("--data", str(directory / "data")),
    "serve --brokers 3": lambda _: ("--brokers", "3"),
}
"""The options of `kohort serve`, which gets a separate directory, by what the table calls it."""
SERVERS = (REAL, *SERVED)


@contextmanager
def served(server: str, directory: Path) -> Iterator[Broker]:
    with kohort_serve(directory / "serve.log", {}, *SERVED[server](directory)) as port:
        yield Embedded(port, directory)
