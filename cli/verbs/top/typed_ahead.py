"""Keys that arrive together, as those of a fast typist over a slow connection: each goes to what the key before it
opened. Textual gives all of them to the widget that has the focus when they arrive, and the list of groups would take
the letters of a filter for commands."""

import asyncio
from collections import deque
from contextlib import suppress

from textual.app import App
from textual.events import Event, Key, Paste
from textual.message_pump import MessagePump

AT_ONCE = ("ctrl+c", "ctrl+z")
SETTLED_WITHIN_S = 0.5  # Then the next key follows: something takes long


class TypedAheadApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self._ahead: deque[Event] = deque()
        self._acting: asyncio.Task[None] | None = None

    async def on_event(self, event: Event) -> None:
        if not isinstance(event, Key | Paste) or event.is_forwarded or getattr(event, "key", "") in AT_ONCE:
            await super().on_event(event)
            return
        self._ahead.append(event)
        if self._acting is None or self._acting.done():
            self._acting = asyncio.create_task(self._act())

    async def _act(self) -> None:
        while self._ahead and self.is_running:
            await super().on_event(self._ahead.popleft())
            await self._settle()

    async def _settle(self) -> None:
        """Wait for the action of a key, the focus that it asks for, the screen that it opens, and the focus there."""
        await _processed(self.focused or self.screen)
        await _processed(self)
        await _processed(self.screen)
        await _processed(self)


async def _processed(pump: MessagePump) -> None:
    """Wait until what it was sent before is processed."""
    done = asyncio.Event()
    if pump.call_later(done.set):
        with suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), SETTLED_WITHIN_S)
