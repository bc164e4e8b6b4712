"""End a child process of the tests for certain."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

TOOL_S = 240

KILL_AFTER_S = 60.0  # A consumer on a crowded machine takes long to commit and to leave its group


def run_tool(
    command: Sequence[str | Path], what: str, error: type[Exception], *, cwd: Path | None = None
) -> None:
    """Run a command that a test needs first; its failure or slowness is an `error`."""
    try:
        subprocess.run(
            command,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
            timeout=TOOL_S,
        )
    except subprocess.CalledProcessError as failed:
        raise error(f"{what} failed:\n{failed.stdout[-2000:]}") from failed
    except subprocess.TimeoutExpired as late:
        raise error(f"{what} took more than {TOOL_S} s") from late


def end(
    process: subprocess.Popen[str] | subprocess.Popen[bytes], *, kill_after_s: float = KILL_AFTER_S
) -> int:
    """Ask `process` to terminate, kill it after a while, return its exit status."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(kill_after_s)
        except subprocess.TimeoutExpired:
            process.kill()
    return reap(process)


def kill(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> int:
    process.kill()
    return reap(process)


def reap(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> int:
    """Wait for the end of `process`, close what is written to it, return its exit status."""
    status = process.wait()
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()
    return status
