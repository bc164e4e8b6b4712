"""End a child process of the tests for certain."""

import subprocess

KILL_AFTER_S = 60.0  # A consumer on a crowded machine takes long to commit and to leave its group


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
