"""Consent to a change: `--execute`, the question on a terminal, `--yes`."""

import json
import sys
import termios
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from cli.errors import UsageError
from cli.options import SourceOptions, option
from cli.output import notice
from cli.progress import cleared
from cli.sources.contexts.origin import SourceOrigin

PREVIEW = "this is a preview: nothing was changed. Add --execute to make the change"
EXPECTED_VARIABLE = "KOHORT_EXPECTED_PREVIEW"
"""`digest_of` the preview that was consented to: the change is made only if it still has this one."""
_consent = partial(option, rich_help_panel="Making the change")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentOptions:
    """Whether a change is only shown, or made."""

    execute: Annotated[
        bool, _consent("--execute", "Make the change; without this option it is only shown.")
    ] = False
    yes: Annotated[bool, _consent("--yes -y", "With --execute: do not ask for confirmation.")] = False
    confirm: Annotated[
        str | None,
        _consent(
            "--confirm",
            "With --execute: name of the protected context, instead of typing it when asked.",
            "CONTEXT",
        ),
    ] = None
    place: SourceOrigin | None = None  # Not an option: the source to change, if no option names it
    target: SourceOptions | None = None  # Not an option: the source to change
    journal: Path | None = None  # An option only of changes of a cluster, as the next one
    no_journal: bool = False
    wait_empty: str | None = None  # An option only of changes that require groups without members

    @property
    def is_given(self) -> bool:
        """Whether the command line has answered the question already."""
        return self.yes or self.confirm is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConsent(ConsentOptions):
    """Consent to a change of a cluster, which gets an entry in the journal."""

    journal: Annotated[
        Path | None,
        _consent("--journal", "Directory for the entry of the change; see kohort journal.", "DIR"),
    ] = None
    no_journal: Annotated[
        bool, _consent("--no-journal", "Make the change without an entry: it cannot be undone.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyGroupConsent(ClusterConsent):
    """Consent to a change of groups without members."""

    wait_empty: Annotated[
        str | None,
        _consent(
            "--wait-empty", "With --execute: wait up to this long for members to leave: 60s, 5m.", "DURATION"
        ),
    ] = None


def check_consent(consent: ConsentOptions) -> None:
    """UsageError if consent is impossible, or is given for another context. Nothing is changed in a protected context
    until its name is given, in answer to the question or as --confirm NAME."""
    if consent.wait_empty is not None:
        if not consent.execute:
            raise UsageError("--wait-empty needs --execute: without it nothing is changed")
        from cli.times import milliseconds

        milliseconds(consent.wait_empty, "--wait-empty")
    if consent.no_journal and consent.journal is not None:
        raise UsageError("--journal and --no-journal cannot be used together")
    flag = "--confirm" if consent.confirm is not None else "--yes" if consent.yes else None
    if flag and not consent.execute:
        raise UsageError(f"{flag} confirms --execute: without --execute nothing is changed")
    origin = consent.place
    name = None if origin is None else origin.name
    if consent.confirm is not None and consent.confirm != name:
        here = str(origin) if origin else "a source without a context"
        raise UsageError(f"--confirm names the context {consent.confirm}, but the change is for {here}")
    if not consent.execute or consent.confirm is not None:
        return
    if origin is not None and origin.is_protected:
        if consent.yes:
            raise UsageError(
                f"the context {name} is protected: --yes is not enough; type its name when asked, "
                f"or give --confirm {name}"
            )
        if not can_ask():
            raise UsageError(
                f"the context {name} is protected: --execute asks for its name, but there is no terminal; "
                f"add --confirm {name}"
            )
    elif not consent.yes and not can_ask():
        raise UsageError("--execute asks for confirmation, but there is no terminal; add --yes")


def can_ask() -> bool:
    """Whether standard input and standard error are a terminal."""
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def ask(question: str, origin: SourceOrigin | None = None) -> bool:
    """Ask on the terminal. Only `y` and `yes` confirm; for a protected context, only its name."""
    with cleared():
        # What was typed before the question was visible is no answer; neither does a terminal give one that was closed.
        with suppress(OSError, termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
        notice(question)
        if origin is not None:  # printed before, but the change may fill the screen by now
            notice(f"the target is {origin}")
        name = origin.name if origin is not None and origin.is_protected else None
        prompt = f"{name} is protected. Type its name" if name else "Type yes"
        print(f"{prompt} to continue: ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        if not answer.endswith("\n"):
            print(file=sys.stderr)  # Ctrl-D leaves the cursor after the question
    if name:
        return answer.strip() == name
    return answer.strip().lower() in ("y", "yes")


def digest_of(document: Mapping[str, object]) -> str:
    """A short text that is another one if a preview shows anything else."""
    from hashlib import sha256

    return sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]
