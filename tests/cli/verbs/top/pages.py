"""`kohort top --web` in a separate process, and a page without a browser: its socket, and what a terminal shows."""

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from ssl import SSLContext

import pyte
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from tests.cli.command import Kohort, Word
from tests.cli.verbs.watch.running import Running, in_pipe

SAMPLE = Path(__file__).parents[4] / "cli" / "verbs" / "demo" / "sample.yaml"
PATIENCE_S = 120.0
WIDTH, HEIGHT = 100, 30


@contextmanager
def serving_pages(kohort: Kohort, directory: Path, *args: Word) -> Iterator[tuple[Running, str]]:
    """A server on a free port of loopback once it listens, and its URL."""
    source = () if "-b" in args else ("--snapshot", SAMPLE)
    command = ("top --web --listen 127.0.0.1:0", *source, *args)
    with in_pipe(kohort, directory, *command, name="pages") as running:
        running.wait_for(lambda run: run.stdout.endswith("\n"), "it listens")
        yield running, running.stdout.removeprefix("Serving kohort top on ").strip()


@dataclass(frozen=True, slots=True)
class Page:
    """What a browser does with a page; its screen is a terminal."""

    socket: ClientWebSocketResponse
    screen: pyte.Screen
    stream: pyte.ByteStream

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    async def type(self, text: str) -> None:
        await self.socket.send_json(["stdin", text])

    async def wait_for(self, text: str) -> None:
        """Until it is on the screen. AssertionError: the page has ended, or it is not there within a minute."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.text:
            try:
                message = await self.socket.receive(timeout=max(deadline - time.monotonic(), 0.01))
            except TimeoutError:
                raise AssertionError(f"never shown: {text}\n{self.text}") from None
            assert message.type is WSMsgType.BINARY, (message, text, self.text)
            self.stream.feed(message.data)

    async def ended(self) -> None:
        """Until the server has closed it; what it drew at last is on the screen."""
        while (message := await self.socket.receive(timeout=PATIENCE_S)).type is WSMsgType.BINARY:
            self.stream.feed(message.data)


@asynccontextmanager
async def opened(url: str, login: str = "", tls: SSLContext | bool = True) -> AsyncIterator[Page]:
    screen = pyte.Screen(WIDTH, HEIGHT)
    async with (
        ClientSession(headers={"Authorization": login}) as session,
        session.ws_connect(f"{url}/ws?width={WIDTH}&height={HEIGHT}", ssl=tls) as socket,
    ):
        yield Page(socket, screen, pyte.ByteStream(screen))


def children(pid: int) -> list[int]:
    """The processes that it has started and that are there."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def words_of(pid: int) -> Sequence[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
