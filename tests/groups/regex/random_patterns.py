"""Random patterns and topic names: mostly what operators write, and all that the engines disagree on."""

from collections.abc import Sequence
from random import Random

WORDS = (
    "orders", "audit", "eu", "us", "a", "b", "ab", "Orders", "payments", "x", "k", "s", "t1", "log", "_", "-", "prod",
)  # fmt: skip
NAMES = "abkstxABKSTX019._-"

PLAIN = (
    ".", ".", ".", ".*", ".*", ".+", "[a-z]", "[a-z]+", "[0-9]+", "[^a]", "[^-.]", "[a-zA-Z0-9._-]*",
    "[abc]", r"\d", r"\d+", r"\w", r"\w+", r"\W", r"\S", r"\s", r"\D", r"\.", r"\-", r"\_", r"\x61",
    r"\x{62}", "-", "_", "[-a]", "[a-]", "[]a]", "[^]a]", "[k-t]", "[A-Z]", r"[\w.-]", r"[\d-z]",
    r"\Qa.b\E", r"\Q.\E", r"\pL", r"\p{Lu}", r"\P{Ll}", r"\pN", r"\p{L}", r"[\p{L}x]", r"\PN", "é", "ſ",
    "K", "[é-ü]", "日", r"\t", "#", " ", "&", "[&a]", "[a&b]", "/", "=", ",", "!",
)  # fmt: skip
ODD = (
    r"\Z", r"\z", r"\A", r"\b", r"\B", "^", "$", "^", "$", r"\G", r"\h", r"\H", r"\v", r"\V", r"\R", r"\X",
    r"\u0061", r"\0101", r"\101", r"\07", r"\1", r"\2", r"\k<n>", r"\cA", r"\e", r"\a", r"\C",
    r"\N{LATIN SMALL LETTER A}", r"\p{Alpha}", r"\p{Lower}", r"\p{Upper}", r"\p{Punct}", r"\p{IsLatin}",
    r"\p{Latin}", r"\p{javaLowerCase}", r"\p{IsAlphabetic}", r"\p{InGreek}", r"\p{^L}", r"\p{Greek}",
    r"\p{Foo}", r"\p{", r"\p", r"\P{Alnum}", r"\p{sc=Latin}", r"\p{gc=Lu}", "[[:alpha:]]", "[[:^digit:]]",
    "[:alpha:]", "[[:foo:]]", "[a-z&&[^x]]", "[a-c[x-z]]", "[^a[b]]", "[a&&b]", "[a-z&&[b-y]&&[^k]]",
    "[&&a]", "[a&&]", "[a", "a]", "]", "}", "{", "a{", "a{2", "{2}", "a{,2}", "a{1,2", "[z-a]", "[a-\\d]",
    r"[\b]", r"[\Qa-z\E]", r"\Q", r"\E", r"\ä", r"\y", r"\8", r"\x", r"\xg", r"\x{110000}", "\\", "(?i)",
    "(?x)", "(?s)", "(?m)", "(?u)", "(?U)", "(?d)", "(?-i)", "(?iu)", "(?x) #c", "(?)", "(?i-s)",
    "(?P<n>a)", "(?<n>b)", "(?<m>a)", "(?'n'a)", "(?#c)", "(?a)", "|", "*", "+", "?", "(", ")", "()",
    "(|a)", "(?i)\\p{Lower}", "(?i)[^k]", "[^\\W_]", "[\\s\\S]", "[^\\s\\S]", "[a\\]b]", "(?i)ſ", "(?iu)ſ",
    "(?iu)[i-k]", "(?i)K", "\\b{g}", "(?!a)", "(?=.*b)", "(?<=a)", "(?<!_)", "(?>a|ab)", "(?<=a|bc)",
    "(?!.*x$)",
)  # fmt: skip
REPEATS = (
    "*", "+", "?", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0}", "{0,2}", "{2,}", "{,2}", "{3,1}",
)  # fmt: skip
ODD_REPEATS = (
    "*+", "++", "?+", "{2}+", "{1,2}?", "{1001}", "{1000}", "**", "{2}{3}", "{01}", "{100}", "{12}",
    "{2,1}", "{99999999999}",
)  # fmt: skip
OPENERS = ("(", "(", "(", "(?:", "(?:", "(?i:", "(?-i:", "(?s:", "(?P<{}>", "(?<{}>")
ODD_OPENERS = ("(?=", "(?!", "(?<=", "(?<!", "(?>", "(?x:", "(?im:", "(?U:", "(?m-s:")


def random_pattern(random: Random) -> str:
    """A pattern, seldom longer than 60 characters."""
    odd = random.choice((0.0, 0.0, 0.03, 0.1, 0.3))
    head = random.choice(("", "", "^", "", "(?i)" if odd else ""))
    return head + _choice(random, 3, odd) + random.choice(("", "", "$", ".*", ".*"))


def _choice(random: Random, depth: int, odd: float) -> str:
    return "|".join(_sequence(random, depth, odd) for _ in range(random.choice((1, 1, 1, 2, 3))))


def _sequence(random: Random, depth: int, odd: float) -> str:
    return "".join(_repeated(random, depth, odd) for _ in range(random.choice((0, 1, 1, 2, 2, 3, 4))))


def _repeated(random: Random, depth: int, odd: float) -> str:
    item = _item(random, depth, odd)
    if random.random() < 0.3:
        item += random.choice(ODD_REPEATS if random.random() < odd else REPEATS)
    return item


def _item(random: Random, depth: int, odd: float) -> str:
    kind = random.random()
    if random.random() < odd / 2:
        return random.choice(ODD)
    if depth and kind < 0.25:
        opener = random.choice(ODD_OPENERS if random.random() < odd else OPENERS)
        return opener.replace("{}", f"n{random.randrange(20)}") + _choice(random, depth - 1, odd) + ")"
    if kind < 0.6:
        return random.choice(PLAIN)
    if kind < 0.62:
        return "^" if random.random() < 0.5 else "$"
    return random.choice(WORDS)


def random_topics(random: Random, count: int) -> list[str]:
    """Names that patterns of these words may match, and some that only have the characters."""
    names = {"__consumer_offsets", "__transaction_state", "a", "A", "k", "s", "i", "-", "_"}
    while len(names) < count:
        if random.random() < 0.5:
            names.add("".join(random.choices(NAMES, k=random.choice((1, 1, 2, 2, 3, 4, 6)))))
        else:
            names.add(_joined(random, random.choices(WORDS, k=random.choice((1, 2, 2, 3, 4)))))
    return sorted(names)


def _joined(random: Random, words: Sequence[str]) -> str:
    return random.choice(("", "", "-", ".", "_", "1")).join(words)
