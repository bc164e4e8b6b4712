"""Java's named character classes, as far as topic names can tell them apart.

Source: java.util.regex.CharPredicates' tables, asked of a JVM (a test asks it again). Names are certain: one that is
missing here is either unknown to every Java (UnknownClassError) or may be known to some (UnsureError).
"""

from __future__ import annotations

from groups.regex.program import UnsureError
from groups.regex.tree import ALL, DIGITS, LETTERS, LOWER, UPPER, WORD, mask_of

_HEX = DIGITS | mask_of("abcdefABCDEF")
_MARKS = mask_of("-._")

_PLAIN = {
    "Lower": LOWER,
    "Upper": UPPER,
    "ASCII": ALL,
    "Alpha": LETTERS,
    "Digit": DIGITS,
    "Alnum": LETTERS | DIGITS,
    "Punct": _MARKS,
    "Graph": ALL,
    "Print": ALL,
    "Blank": 0,
    "Cntrl": 0,
    "XDigit": _HEX,
    "Space": 0,
    "L1": ALL,
    "LD": LETTERS | DIGITS,
    "LC": LETTERS,
    "L": LETTERS,
    "N": DIGITS,
    "P": _MARKS,
    "Lu": UPPER,
    "Ll": LOWER,
    "Nd": DIGITS,
    "Pd": mask_of("-"),
    "Pc": mask_of("_"),
    "Po": mask_of("."),
    **dict.fromkeys(
        """M Z C S Cn Lt Lm Lo Mn Me Mc Nl No Zs Zl Zp Cc Cf Co Cs Ps Pe Sm Sc Sk So Pi Pf""".split(),  # noqa: SIM905
        0,
    ),
}
"""Categories and POSIX names, also behind `Is` and `gc=`."""

_JAVA = {
    "LowerCase": LOWER,
    "UpperCase": UPPER,
    "Alphabetic": LETTERS,
    "Ideographic": 0,
    "TitleCase": 0,
    "Digit": DIGITS,
    "Defined": ALL,
    "Letter": LETTERS,
    "LetterOrDigit": LETTERS | DIGITS,
    "JavaIdentifierStart": LETTERS | mask_of("_"),
    "JavaIdentifierPart": WORD,
    "UnicodeIdentifierStart": LETTERS,
    "UnicodeIdentifierPart": WORD,
    "IdentifierIgnorable": 0,
    "SpaceChar": 0,
    "Whitespace": 0,
    "ISOControl": 0,
    "Mirrored": 0,
}
"""Behind `java`."""

_BINARY = {
    "ALPHABETIC": LETTERS,
    "LETTER": LETTERS,
    "IDEOGRAPHIC": 0,
    "LOWERCASE": LOWER,
    "UPPERCASE": UPPER,
    "TITLECASE": 0,
    "WHITE_SPACE": 0,
    "CONTROL": 0,
    "PUNCTUATION": _MARKS,
    "HEX_DIGIT": _HEX,
    "ASSIGNED": ALL,
    "NONCHARACTER_CODE_POINT": 0,
    "DIGIT": DIGITS,
    "ALNUM": LETTERS | DIGITS,
    "BLANK": 0,
    "GRAPH": ALL,
    "PRINT": ALL,
    "WORD": WORD,
    "JOIN_CONTROL": 0,
}
"""Behind `Is`, in any case."""

_SCRIPTS = {
    "LATIN": LETTERS,
    "LATN": LETTERS,
    "COMMON": DIGITS | _MARKS,
    "ZYYY": DIGITS | _MARKS,
    **dict.fromkeys(
        ("GREEK", "CYRILLIC", "HAN", "HIRAGANA", "KATAKANA", "HANGUL", "ARABIC", "HEBREW", "THAI"), 0
    ),
}
"""Behind `Is` and `script=`, in any case; those that an operator may have written."""

_CASED = frozenset({"Lower", "Upper", "Lu", "Ll", "Lt", "LowerCase", "UpperCase", "TitleCase"}) | frozenset(
    {"LOWERCASE", "UPPERCASE", "TITLECASE"}
)


class UnknownClassError(Exception):
    """No Java knows the name."""


def class_named(name: str, *, ignoring_case: bool, of_unicode: bool) -> int:
    """The characters of `\\p{name}`. UnknownClassError, UnsureError."""
    key, found = _look_up(name)
    if found is None:
        if of_unicode or name.startswith(("Is", "In")) or "=" in name:  # (?U) takes POSIX names in any case
            raise UnsureError(f"\\p{{{name}}}")
        raise UnknownClassError
    if ignoring_case and key in _CASED:
        raise UnsureError(f"\\p{{{name}}} under (?i), which not all Javas read alike")
    return found


def _look_up(name: str) -> tuple[str, int | None]:
    kind, equals, value = name.partition("=")
    if equals:
        match kind.lower():
            case "sc" | "script":
                return value, _SCRIPTS.get(value.upper())
            case "gc" | "general_category":
                return value, _PLAIN.get(value)
        return value, None
    if name.startswith("java"):
        return name[4:], _JAVA.get(name[4:])
    if not name.startswith("Is"):
        return name, _PLAIN.get(name)
    short = name[2:]
    for key, table in ((short.upper(), _BINARY), (short, _PLAIN), (short.upper(), _SCRIPTS)):
        if key in table:
            return key, table[key]
    return short, None
