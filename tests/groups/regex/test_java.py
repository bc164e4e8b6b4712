"""Java's syntax: what a pattern means for names, what Java refuses, and what is not settled; and Java's own word."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.regex.automaton import Automaton
from groups.regex.java import JavaSyntaxError, parse_java
from groups.regex.posix import parse_posix
from groups.regex.program import TooLargeError, UnsureError, without_atoms
from groups.regex.re2j import PatternRefusedError, parse
from groups.regex.tree import ALPHABET
from tests.kafka.regex_engines import ask_engines

NAMES = (
    "a", "b", "ab", "aa", "aab", "abc", "A", "x", "1", "a1", "-", ".", "_", "a-b", "a.b", "a_b", "k", "K", "orders",
    "E",
)  # fmt: skip

MATCHES = {
    "a": "a", "a|b": "a b", "a*+b": "b ab aab", "a*+ab": "", "a++b": "ab aab", "a{1,2}+a": "", "a?+ab": "aab",
    "(?>a|ab)b": "ab", "(?>ab|a)b": "", "(?>a*?)aab": "aab", "(?=a)..": "ab aa a1",
    "(?!a).*": "b A x 1 - . _ k K orders E", ".(?<=b)": "b", "..(?<!b)": "aa a1", "a{2}{3}": "aa", "{2}a": "a",
    "a{0}b": "b", r"\Qa.b\E": "a.b", r"a\Q.\Eb": "a.b", r"\Qa.b": "a.b", r"[\Qa-\E]+": "a aa -", r"\0101": "A",
    r"\x61\u0062": "ab", r"\x{61}": "a", r"\cab?": "", r"\p{Lower}": "a b x k", r"\P{Lower}": "A 1 - . _ K E",
    r"\pL\p{Nd}": "a1", r"\p{IsLatin}{3}": "aab abc", r"\p{javaUpperCase}|\p{Punct}": "A - . _ K E",
    r"\p{gc=Lu}|\p{sc=Common}": "A 1 - . _ K E", "[a-z&&[^bx]]": "a k", "[a-c[x-z]]": "a b x", "[abx&&ab&&a]": "a",
    "[]a]": "a", "[^]a]": "b A x 1 - . _ k K E", "[&&a]": "a", "[a&&]": "a", "[[:alpha:]]+": "a aa", "(?i)k": "k K",
    "(?i)[^k]": "a b A x 1 - . _ E", "(?i:a)b|(?-i)K": "ab K", "a(?i)B": "ab", "(?x) a b # both": "ab",
    "(?x)a\\ b": "", r"a\b.+": "a-b a.b", r"a\Bb": "ab", r"\Aa\Z|^b$|\Gx\z": "a b x", "(?m)^a$": "a", r"a\R?": "a",
    r"a\h*b": "ab", "(?<n>a)b": "ab", "ſ|é|\u212a": "", "}|]": "", "(|a)*b": "b ab aab", "(a|ab)(c|bcd)?": "a ab abc",
    "(?:(?!b).)*": "a aa A x 1 a1 - . _ k K orders E",
}  # fmt: skip

REFUSED = {
    "(": "Unclosed group", "a)": "Unmatched closing ')'", "[a": "Unclosed character class",
    "*a": "Dangling meta character '*'", "a**": "Dangling meta character '*'", "a{": "Illegal repetition",
    "a{2": "Unclosed counted closure", "a{3,1}": "Illegal repetition range",
    "a{99999999999}": "Illegal repetition range", "[z-a]": "Illegal character range",
    "(?a)": "Unknown inline modifier", "(?P<n>a)": "Unknown inline modifier",
    "(?<1>a)": "capturing group name does not start with a Latin letter",
    "(?<n>a)(?<n>b)": "Named capturing group <n> is already defined",
    r"\k<n>": "named capturing group <n> does not exist", r"\y": "Illegal/unsupported escape sequence",
    r"\E": "Illegal/unsupported escape sequence", r"\08": "Illegal octal escape sequence",
    r"\xg": "Illegal hexadecimal escape sequence", r"\x{110000}": "Hexadecimal codepoint is too big",
    r"\u12": "Illegal Unicode escape sequence", r"\p{Latin}": "Unknown character property name {Latin}",
    r"\p{^L}": "Unknown character property name {^L}", r"\p{L": "Unclosed character family",
    "[&&]": "Bad class syntax", "a\\": "Unescaped trailing backslash", r"[\b]": "Illegal/unsupported escape sequence",
}  # fmt: skip

UNSURE = (
    r"(a)\1", r"\X", r"\b{g}", "[^a[b]]", "[^a&&b]", r"(?i)\p{Lower}", "(?iu)ſ", "(?c)a", r"\N{DIGIT ONE}",
    "(?<=a+)b", r"\p{InGreek}", r"\p{IsEmoji}", "(?>a+b?a)c", "(a?|b)*+",
)  # fmt: skip


def _automaton(pattern: str) -> Automaton:
    return Automaton(without_atoms(parse_java(pattern)))


@pytest.mark.parametrize("pattern", MATCHES)
def test_matches(pattern: str) -> None:
    assert [name for name in NAMES if _automaton(pattern).matches(name)] == MATCHES[pattern].split()


@pytest.mark.parametrize("pattern", REFUSED)
def test_refused(pattern: str) -> None:
    with pytest.raises(JavaSyntaxError, match=f"^{re.escape(REFUSED[pattern])}$"):
        parse_java(pattern)


@pytest.mark.parametrize("pattern", [*UNSURE, "(" * 61 + ")" * 61], ids=[*UNSURE, "deep"])
def test_unsure(pattern: str) -> None:
    with pytest.raises(UnsureError):
        _automaton(pattern)


@pytest.mark.kafka
def test_java_says_the_same(kafka_jars: Path) -> None:
    patterns = [*MATCHES, *REFUSED]
    for pattern, said in zip(patterns, ask_engines(kafka_jars, patterns, NAMES), strict=True):
        if pattern in MATCHES:
            assert said.java.matched is not None, pattern
            assert said.java.matched == set(MATCHES[pattern].split()), pattern
        else:
            assert said.java.error is not None, pattern
            older_words = "Unexpected internal error"  # what Java 17 says of a trailing backslash
            assert REFUSED[pattern] in said.java.error or said.java.error.startswith(older_words)


@pytest.mark.kafka
def test_every_named_class_holds_what_java_says(kafka_jars: Path) -> None:
    from groups.regex import character_classes as classes

    names = [
        *classes._PLAIN,
        *(f"Is{name}" for name in (*classes._PLAIN, *classes._BINARY, *classes._SCRIPTS)),
        *(f"java{name}" for name in classes._JAVA_METHODS),
        *(f"gc={name}" for name in classes._PLAIN if len(name) < 3),
        *(f"script={name}" for name in classes._SCRIPTS),
        *("Latin", "Any", "alpha", "javaFoo", "Emoji"),
    ]
    patterns = [rf"{flag}\{sign}{{{name}}}" for name in names for sign in "pP" for flag in ("", "(?U)")]
    for pattern, said in zip(patterns, ask_engines(kafka_jars, patterns, list(ALPHABET)), strict=True):
        try:
            ours = {name for name in ALPHABET if _automaton(pattern).matches(name)}
        except UnsureError:
            assert "(?U)" in pattern
        except JavaSyntaxError:
            assert said.java.error is not None, pattern
        else:
            assert set(said.java.matched or ()) == ours, pattern


SYNTAX = r"abkK09._-()[]{}|*+?^$\,:=!<>&#PQEpdwxuzZnNgk iU"


@given(st.one_of(st.text(alphabet=SYNTAX, max_size=25), st.text(max_size=15)))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read, refusals in (
        (lambda: Automaton(parse(text).tree).matches("ab"), (PatternRefusedError, TooLargeError)),
        (lambda: _automaton(text).matches("ab"), (JavaSyntaxError, UnsureError, TooLargeError)),
        (lambda: parse_posix(text), ()),
    ):
        try:
            read()
        except refusals:
            continue
