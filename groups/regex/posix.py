"""POSIX extended regexes by the C library's regcomp, as librdkafka's classic consumer; our parser is for proofs."""

import ctypes
import re
import sys
import threading
from collections.abc import Callable
from collections.abc import Sequence as Sequence_
from typing import Any, TypeVar

from groups.regex import tree as syntax
from groups.regex.character_classes import POSIX
from groups.times import seconds_text

PATIENCE_S = 5.0  # per pattern: with back references, the library may need exponential time
MAX_WEIGHT = 2_000_000  # length times counts, which the library expands; beyond, it gets no pattern
T = TypeVar("T")


class PosixSyntaxError(Exception):
    """regcomp refuses the pattern; the message is the library's."""


class NotAskedError(Exception):
    """The C library cannot be used or does not answer in time; the message contains the reason."""


class PosixRegex:
    """A pattern compiled by regcomp. PosixSyntaxError if it is refused, NotAskedError if that is not known."""

    def __init__(self, pattern: str) -> None:
        weight = len(pattern)
        for count in re.findall(r"\{(?:\d*,)?(\d+),?\}", pattern):
            weight *= max(1, int(count[:9]))
        if weight > MAX_WEIGHT:
            raise NotAskedError("counts too large for the C library")
        if "\0" in pattern:
            raise PosixSyntaxError("a zero byte ends a string of C")
        self._library = _library()
        self._compiled = ctypes.create_string_buffer(1024)
        code = _in_time(lambda: self._library.regcomp(self._compiled, pattern.encode(), _FLAGS))
        if code:
            said = ctypes.create_string_buffer(256)
            self._library.regerror(code, self._compiled, said, len(said))
            raise PosixSyntaxError(said.value.decode(errors="replace"))

    def found_in(self, names: Sequence_[str]) -> list[bool]:
        """For each name, whether it contains a match. NotAskedError if that takes too long."""
        regexec, compiled = self._library.regexec, self._compiled
        encoded = [name.encode() for name in names]
        return _in_time(lambda: [regexec(compiled, name, 0, None, 0) == 0 for name in encoded])


_FLAGS = 1 | (4 if sys.platform == "darwin" else 8)  # REG_EXTENDED, REG_NOSUB


def _library() -> Any:
    try:
        library = ctypes.CDLL(None)
        pointer, text, size, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int
        library.regexec.argtypes = [pointer, text, size, pointer, number]
        library.regcomp.argtypes = [pointer, text, number]
        library.regerror.argtypes = [number, pointer, text, size]
        library.regerror.restype = ctypes.c_size_t
    except (OSError, TypeError, AttributeError):
        raise NotAskedError("no regcomp in the C library of this machine") from None
    return library


def _in_time(ask: Callable[[], T]) -> T:
    """The result of a library call, which has no time limit itself: a thread that takes too long is abandoned."""
    answers: list[T] = []
    thread = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    if not answers:
        raise NotAskedError(f"no answer from the C library within {seconds_text(PATIENCE_S)}")
    return answers[0]


def parse_posix(pattern: str) -> syntax.Tree | None:
    """Parse a pattern that regcomp accepts, without implicit anchors; None if it is too complex for this parser."""
    try:
        return _Parser(pattern).parse()
    except _NotPlainError:
        return None


def anywhere(tree: syntax.Tree) -> syntax.Tree:
    """A tree that matches a whole name containing `tree`."""
    anything = syntax.Repeat(syntax.Chars(syntax.ALL), 0, None)
    return syntax.Sequence((anything, tree, anything))


class _NotPlainError(Exception):
    pass


_COUNTS = re.compile(r"\{(\d{0,5})(?:(,)(\d{0,5}))?\}")
_MAX_DEPTH = 60
_CLASSES = {"w": syntax.WORD, "W": syntax.ALL & ~syntax.WORD, "s": 0, "S": syntax.ALL}
_PLACES = {"b": syntax.Boundary.WORD_EDGE, "B": syntax.Boundary.NO_WORD_EDGE}


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def parse(self) -> syntax.Tree:
        tree = self.choice()
        if self.at != len(self.text):
            raise _NotPlainError
        return tree

    def choice(self) -> syntax.Tree:
        options = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            options.append(self.sequence())
        return syntax.choice_of(options)

    def sequence(self) -> syntax.Tree:
        parts: list[syntax.Tree] = []
        while self.peek() not in ("", "|", ")"):
            item = self.item()
            while self.peek() and self.peek() in "*+?{":
                if isinstance(item, syntax.Assertion):
                    raise _NotPlainError
                item = syntax.Repeat(item, *self.counts())
            parts.append(item)
        return syntax.sequence_of(parts)

    def counts(self) -> tuple[int, int | None]:
        character = self.peek()
        if character != "{":
            self.at += 1
            return syntax.QUANTIFIERS[character]
        match = _COUNTS.match(self.text, self.at)
        if match is None or match.group() in ("{}", "{,}"):
            raise _NotPlainError
        self.at = match.end()
        least, comma, most = match.groups()
        return int(least or 0), int(most) if most else None if comma else int(least)

    def item(self) -> syntax.Tree:
        character = self.peek()
        if character in "*+?{":
            raise _NotPlainError
        if character == "(":
            return self.group()
        if character == "[":
            return syntax.Chars(self.bracket())
        if character == "\\":
            return self.escape()
        self.at += 1
        if character in syntax.SYMBOLS:
            return syntax.SYMBOLS[character]
        return syntax.Chars(syntax.mask_of(character))

    def group(self) -> syntax.Tree:
        self.depth += 1
        self.at += 1
        if self.depth > _MAX_DEPTH:
            raise _NotPlainError
        tree = self.choice()
        if self.peek() != ")":
            raise _NotPlainError
        self.at += 1
        self.depth -= 1
        return tree

    def escape(self) -> syntax.Tree:
        """GNU's own escapes; before any other character, a backslash only quotes it: `\\d` means the letter d."""
        character = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if character in _CLASSES:
            return syntax.Chars(_CLASSES[character])
        if character in _PLACES:
            return syntax.Assertion(_PLACES[character])
        if not character or character in "<>`'123456789":
            raise _NotPlainError
        return syntax.Chars(syntax.mask_of(character))

    def bracket(self) -> int:
        self.at += 1
        negative = self.peek() == "^"
        self.at += negative
        mask, first = 0, True
        while first or self.peek() != "]":
            first = False
            mask |= self.bracket_item()
        self.at += 1
        return syntax.ALL & ~mask if negative else mask

    def bracket_item(self) -> int:
        if self.text.startswith("[:", self.at):
            end = self.text.find(":]", self.at)
            name = self.text[self.at + 2 : end]
            if end < 0 or name in ("ascii", "word") or name not in POSIX:
                raise _NotPlainError
            self.at = end + 2
            return POSIX[name]
        low = self.bracket_character()
        if self.peek() != "-" or self.text.startswith("-]", self.at):
            return syntax.mask_of(low)
        self.at += 1
        return syntax.mask_between(ord(low), ord(self.bracket_character()))

    def bracket_character(self) -> str:
        character = self.peek()
        if not character or not character.isascii() or self.text.startswith(("[.", "[=", "[:"), self.at):
            raise _NotPlainError
        self.at += 1
        return character
