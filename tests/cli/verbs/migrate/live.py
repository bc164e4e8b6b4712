"""A live view of a run, until Ctrl-C; the tests run it on a terminal."""

import signal
import time

from cli.verbs.migrate.view import LiveView
from tests.cli.verbs.migrate.statuses import status, stopped
from tests.cli.verbs.migrate.stories import finished


def main() -> None:
    interrupts: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    with LiveView() as view:
        for document in finished().documents:
            view.event(document)
        began_s = time.monotonic()
        while not interrupts:
            view.draw([status(lasted_s=time.monotonic() - began_s)])
            time.sleep(0.05)
        view.draw([stopped()])
    print("the next line")


if __name__ == "__main__":
    main()
