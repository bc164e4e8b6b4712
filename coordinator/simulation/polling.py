"""An application that polls its consumer: what its thread does, and which actions wait for it.

It is always in `poll`, except during a callback of its listener, a pause, or the 100 ms after an exception. An action
requested during a callback is done after it; a change of what it reads also waits for `poll`. When a frozen process
thaws, answers are handled before deadlines, as in Java's network client."""

from abc import ABC, abstractmethod
from enum import Enum

from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import Callback
from coordinator.simulation.schedule import Action, Schedule

AGAIN_MS = 100  # How long after an exception an application polls again


class Activity(Enum):
    """The activity of the application's thread."""

    POLLING = "polling"
    CALLBACK = "callback"
    BUSY = "busy"  # Paused, or between an exception and the next poll
    CLOSING = "closing"
    ENDED = "ended"


_POLLING, _ENDED = Activity.POLLING, Activity.ENDED
"""Names that are read often: Python 3.11 finds a member of an enum slowly."""


class PollingApplication(ABC):
    """See the module. What the member does then, and what is read, is in the subclass."""

    def __init__(self, schedule: Schedule) -> None:
        self.activity = Activity.BUSY
        self.is_frozen = False
        self.member: ClientMember
        self._schedule = schedule
        self._callback: Callback | None = None
        self._later: list[tuple[Action, tuple[object, ...]]] = []
        """Actions of the application after the callback."""
        self._changes: list[tuple[str, tuple[object, ...]]] = []
        """Methods that the application will call between two calls of `poll`, with their arguments."""
        self._frozen: list[tuple[Action, tuple[object, ...]]] = []
        """Actions that wait until the process thaws."""
        self._thaw_ms = 0
        self._busy_until_ms = 0

    @property
    def is_running(self) -> bool:
        return self.activity is not _ENDED

    @property
    def is_polling(self) -> bool:
        return self.activity is _POLLING and not self.is_frozen

    @abstractmethod
    def wake(self, wake_ms: int) -> None:
        """A planned wake-up."""

    @abstractmethod
    def _step(self) -> None:
        """Handle the member's outputs after an input."""

    @abstractmethod
    def _update_reading(self) -> None:
        """Start and stop reading, depending on what the application does."""

    # Called by the scenario.

    def start(self, member: ClientMember) -> None:
        self.member = member
        self.activity = Activity.POLLING
        member.enter_poll(self._schedule.now_ms)
        self._step()

    def close(self) -> None:
        """Close as soon as the application can; this ends a pause."""
        self._when_free(self._close)

    def pause(self, for_ms: int) -> None:
        self._when_free(self._pause, for_ms)

    def freeze(self, for_ms: int) -> None:
        if self.is_running:
            self.is_frozen = True
            self._update_reading()
            self._thaw_ms = max(self._thaw_ms, self._schedule.now_ms + for_ms)
            self._schedule.at(self._thaw_ms, self._thaw)

    def call(self, method: str, *arguments: object) -> None:
        """Have the application call a method of its consumer as soon as it can."""
        self._when_free(self._call, method, *arguments)

    def change(self, method: str, *arguments: object) -> None:
        """The same, where it would call `poll` next: the method may call the listener."""
        self._when_free(self._change, method, *arguments)

    # Waiting.

    def _waits(self, action: Action, *arguments: object) -> bool:
        """Whether the action cannot be done now: either never again, or only when the process thaws."""
        if self.is_frozen:
            self._frozen.append((action, arguments))
        return self.is_frozen or self.activity is _ENDED

    def _when_free(self, action: Action, *arguments: object) -> None:
        if self._waits(self._when_free, action, *arguments):
            return
        if self._callback is not None:
            self._later.append((action, arguments))
        else:
            action(*arguments)

    def _catch_up(self) -> None:
        while self._later and self._callback is None and self.activity is not Activity.ENDED:
            action, arguments = self._later.pop(0)
            action(*arguments)

    def _thaw(self) -> None:
        if self._schedule.now_ms < self._thaw_ms or not self.is_frozen:
            return
        self.is_frozen = False
        waiting, self._frozen = self._frozen, []
        self._update_reading()
        # Answers before deadlines: a wake-up that waited asks the member again when it is due.
        for action, arguments in sorted(waiting, key=lambda step: step[0] == self.wake):
            action(*arguments)

    # What it does when it is free.

    def _close(self) -> None:
        if self.activity in (Activity.CLOSING, Activity.ENDED):
            return
        self.activity = Activity.CLOSING
        self._update_reading()
        self.member.close(self._schedule.now_ms)
        self._step()

    def _call(self, method: str, *arguments: object) -> None:
        if self.activity is not Activity.CLOSING:
            getattr(self.member, method)(*arguments, self._schedule.now_ms)
            self._step()

    def _change(self, method: str, *arguments: object) -> None:
        self._changes.append((method, arguments))
        self._make_changes()

    def _make_changes(self) -> None:
        while self._changes and self._callback is None and not self.member.awaits_commit:
            if self.activity is not Activity.POLLING:
                return
            method, arguments = self._changes.pop(0)
            self._call(method, *arguments)

    def _pause(self, for_ms: int) -> None:
        if self.activity is Activity.CLOSING:
            return
        self._leave()
        self._poll_after(for_ms)
        self.member.leave_poll(self._schedule.now_ms)
        self._step()

    def _leave(self) -> None:
        self.activity = Activity.BUSY
        self._update_reading()

    def _poll_after(self, for_ms: int) -> None:
        self._busy_until_ms = max(self._busy_until_ms, self._schedule.now_ms + for_ms)
        self._schedule.at(self._busy_until_ms, self._poll_again)

    def _poll_again(self) -> None:
        if self._waits(self._poll_again) or self.activity is not Activity.BUSY:
            return
        if self._schedule.now_ms < self._busy_until_ms:
            return
        self.activity = Activity.POLLING
        self._make_changes()
        if self.activity is not Activity.POLLING:
            return
        self.member.enter_poll(self._schedule.now_ms)
        self._step()
        self._update_reading()
