"""Subscription regexes: what the broker refuses, why and where, and what it matches."""

from pathlib import Path

import pytest

from groups.regex.broker import MAX_BYTES, InvalidRegexError, compile_broker_regex, compile_filter, judge
from tests.kafka.regex_engines import ask_engines

TOPICS = (
    "", "a", "aa", "aaa", "A", "ab", "b", "orders", "ORDERS", "orders-1", "orders.eu", "orders_eu",
    "payments", "-", ".", "_", "0", "__consumer_offsets", "a-b", "a.b", "a\nb", "x", " ", "é", "É", "k",
    "K", "\u212a", "s", "ſ", "日本", "🙂",
)  # fmt: skip

VALID = (
    "", "a", "^a$", ".*", "orders-.*", "^(orders|payments)$", "orders[-._].*", "[a-z]+", "[^a]",
    "(?i)orders", "(?s).*", "(?m)^a$", "(?U)a*", "(?P<n>a)", "(?<n>a)", "(?:a|b)+", r"\d", r"\w+", r"\s",
    r"\D", r"\W", r"\S", r"\ba\b", r"\Bx", r"\Aa\z", r"\Qa.b\E", r"\Q", r"\Q\C\E", r"\Q*\E*", r"\.", r"\-",
    r"\x41", r"\x{41}", r"\101", r"\07", r"\n", r"\\C", r"\pL", r"\p{Greek}", r"\p{^L}", r"\PL", r"\pN+",
    "[[:alpha:]]+", "[[:^alpha:]]", "[[:word:]]+", "[a-]", "[-a]", "[]a]", "[^]a]", "[:alpha:]", r"[\w.-]+",
    r"[^\S\s]", "a*?", "a+?", "a??", "a{2}", "a{2,}", "a{2,3}", "a{,3}", "a{1000}", "a{0}", "a{", "a{a}",
    "a{1", "(a{2})*", "(a{100}){10}", "((a{10}){10}){10}", "(a*){1000}", "|", "a||b", "()", "^^", "$$",
    "a$b", "é", "日本", "🙂", "[é-ü]", "(?i)É", "(?i)k", "(?i)ſ", ".", "(?i:a)b", "(?i-s:a)", "(?-i)a",
    "x{0,1000}", "(a{100}){11}", "((a{10}){10}){11}", "(x{0,1000}){2}", r"\ä", r"[\é-\ü]+", "a{01}",
    "(?:a{2,}){600}", "((?i)k{300}?){0,9}", r"(?i)[\x{212a}]{2}", r"(\Qa*\E{100}){11,}", "(a|b){1000}",
    "[\\x{100}-\\x{10FFFF}]",
)  # fmt: skip

INVALID = {
    r"\C": ("invalid escape sequence: `\\C`", 0), r"a\C": ("invalid escape sequence: `\\C`", 1),
    r"\\\C": ("invalid escape sequence: `\\C`", 2), r"a\Z": ("invalid escape sequence: `\\Z`", 1),
    r"(a)\1": ("invalid escape sequence: `\\1`", 3), r"x\e": ("invalid escape sequence: `\\e`", 1),
    r"x\p{Foo}": ("invalid character class range: `\\p{Foo}`", 1),
    "x[[:foo:]]": ("invalid character class range: `[:foo:]`", 2),
    "x[z-a]": ("invalid character class range: `z-a`", 2), "a**": ("invalid nested repetition operator: `**`", 1),
    "a*+": ("invalid nested repetition operator: `*+`", 1),
    "a{2}{3}": ("invalid nested repetition operator: `{2}{3}`", 1), "a{1001}": ("invalid repeat count: `{1001}`", 1),
    "a{3,2}": ("invalid repeat count: `{3,2}`", 1), "a{99999999999}": ("invalid repeat count: `{99999999999}`", 1),
    "*a": ("missing argument to repetition operator: `*`", 0),
    "a|*": ("missing argument to repetition operator: `*`", 2),
    "(?=a)": ("invalid or unsupported Perl syntax: `(?=`", 0),
    "(?!a)": ("invalid or unsupported Perl syntax: `(?!`", 0),
    "(?>a)": ("invalid or unsupported Perl syntax: `(?>`", 0),
    "(?x)a": ("invalid or unsupported Perl syntax: `(?x`", 0),
    "a(?P<n>b)(?P<n>c)": ("duplicate capture group name: `n`", 9), "(?P<ñ>a)": ("invalid named capture: `(?P<ñ>`", 0),
    "(?P<>a)": ("invalid named capture: `(?P<>`", 0), "orders-(eu|us": ("missing closing )", 7),
    "((a)": ("missing closing )", 0), r"(?P<n>[(]\Q(\E\((": ("missing closing )", 16), "a)": ("unexpected )", 1),
    r"(a)[)]\))": ("unexpected )", 8), "a{?": ("invalid nested repetition operator: `{?`", 1),
    r"a\xg1": (r"invalid escape sequence: `\xg1`", 1), "x[a": ("missing closing ]: `[a`", 1),
    "a\\": ("trailing backslash at end of expression", None),
}  # fmt: skip


@pytest.mark.parametrize("pattern", INVALID)
def test_reason_and_position(pattern: str) -> None:
    verdict = judge(pattern)
    assert not verdict.valid
    assert (verdict.reason, verdict.position) == INVALID[pattern]
    with pytest.raises(InvalidRegexError, match="is invalid"):
        compile_broker_regex(pattern)


@pytest.mark.kafka
def test_the_verdicts_matches_and_reasons_are_the_brokers(kafka_jars: Path) -> None:
    # Where the whole pattern is the fault, or RE2/J reports its own error, ours say it shorter.
    own_words = ("missing closing )", "unexpected )", "trailing backslash")
    patterns = [*VALID, *INVALID]
    for pattern, said in zip(patterns, ask_engines(kafka_jars, patterns, TOPICS), strict=True):
        assert judge(pattern).valid == (said.broker.error is None), pattern
        if pattern in VALID:
            assert frozenset(compile_broker_regex(pattern).matches(TOPICS)) == said.broker.matched, pattern
        elif not INVALID[pattern][0].startswith(own_words):
            assert (said.broker.error or "").endswith(f": {INVALID[pattern][0]}")


def test_the_whole_name_must_match() -> None:
    assert compile_broker_regex("orders").matches(["orders", "orders-1", "my-orders"]) == ["orders"]
    assert compile_filter("orders").search("my-orders-1")


def test_a_record_key_bounds_the_length() -> None:
    assert judge("a" * MAX_BYTES).valid
    assert judge("é" * (MAX_BYTES // 2)).valid
    for pattern in ("a" * (MAX_BYTES + 1), "é" * (MAX_BYTES // 2 + 1)):
        assert judge(pattern).reason == "longer than 32767 bytes, the maximum of a record key"


DANGEROUS = {
    "((a{1000}){1000}){1000}": "its repetitions expand to 2,003,003,000 instructions",
    "(x||y){1000}": "5,002 steps without a character", "t(x||y){1000}-|a": "5,002 steps without a character",
    "(x?)" * 5000: "steps without a character", "(" * 15_000 + "a" + ")" * 15_000: "15,000 nested groups",
    "((((((a{1000}){1000}){1000}){1000}){1000}){1000}){1000}": "over 10^12 instructions",
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "why"), DANGEROUS.items(), ids=range(len(DANGEROUS)))
def test_what_the_broker_takes_to_its_own_harm(pattern: str, why: str) -> None:
    verdict = judge(pattern)
    assert verdict.valid
    assert verdict.regex is None
    assert verdict.danger is not None
    assert why in verdict.danger
    with pytest.raises(InvalidRegexError, match="the broker"):
        compile_broker_regex(pattern)
    assert judge("(a{100}){11}").danger is None


@pytest.mark.kafka
def test_what_overflows_the_brokers_stack(kafka_jars: Path) -> None:
    patterns = ["(" * 10_000 + "a" + ")" * 10_000, "(?:(x?){1000}){10}", "(x?)" * 8000]
    for pattern, said in zip(patterns, ask_engines(kafka_jars, patterns, ["aaa"]), strict=True):
        assert judge(pattern).danger is not None, pattern[:100]
        assert said.broker.error == "java.lang.StackOverflowError", pattern[:100]
