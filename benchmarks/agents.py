"""`kohort mcp` over standard input and output, on the sample fleet: `python -m benchmarks.agents`.

First answer: from the start of the process until the answer to `initialize` has arrived. Tools: the list of all tools
with their schemas. A call: `list`, which runs the command as a process. Processor: of the start until the first answer.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

STARTS = 10
BOUND_S = 0.6  # The first answer
INITIALIZE: dict[str, object] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
REQUESTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("initialize", INITIALIZE),
    ("tools/list", {}),
    ("tools/call", {"name": "list", "arguments": {}}),
)


def main() -> int:
    kohort = Path(sys.executable).with_name("kohort")
    with tempfile.TemporaryDirectory() as sample:
        subprocess.run([kohort, "demo", f"{sample}/fleet"], check=True, capture_output=True)
        command = [str(kohort), "mcp", "--embedded", f"{sample}/fleet"]
        _times(command)  # Python compiles, and the system reads files
        seconds = [_times(command) for _ in range(STARTS)]
    first, tools, call, processor = (statistics.median(column) for column in zip(*seconds, strict=True))
    print("first answer s  tools s  call s  processor s")
    print(f"{first:14.2f} {tools:8.2f} {call:7.2f} {processor:12.2f}")
    return int(first > BOUND_S)


def _times(command: list[str]) -> list[float]:
    """The seconds of each request, the first from the start of the process, and of the processor."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        answers = request_seconds(server)
        first_s = next(answers)
        processor_s = _processor_s(server.pid)
        return [first_s, *answers, processor_s]


def request_seconds(server: subprocess.Popen[bytes]) -> Iterator[float]:
    """Send the requests to a server that was just started; yields the seconds until each is answered."""
    began_s = time.perf_counter()
    if server.stdin is None or server.stdout is None:
        raise OSError("no pipes")
    for number, (method, parameters) in enumerate(REQUESTS):
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        if "result" not in json.loads(server.stdout.readline()):
            raise ValueError(f"{method} failed")
        yield time.perf_counter() - began_s
        began_s = time.perf_counter()
        if number == 0:
            server.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    server.stdin.close()


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
