"""Named character classes of RE2/J 1.8, POSIX and Java, reduced to topic names' characters; tests compare both."""

from groups.regex.program import UnsureError
from groups.regex.tree import ALL, DIGITS, LETTERS, LOWER, UPPER, WORD, mask_of

CATEGORIES = frozenset(
    """C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs""".split()  # noqa: SIM905
)
SCRIPTS = frozenset(
    """Arabic Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid
    Canadian_Aboriginal Carian Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari
    Egyptian_Hieroglyphs Ethiopic Georgian Glagolitic Gothic Greek Gujarati Gurmukhi Han Hangul Hanunoo Hebrew
    Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada
    Katakana Kayah_Li Kharoshthi Khmer Lao Latin Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic
    Meetei_Mayek Mongolian Myanmar New_Tai_Lue Nko Ogham Ol_Chiki Old_Italic Old_Persian Old_South_Arabian
    Old_Turkic Oriya Osmanya Phags_Pa Phoenician Rejang Runic Samaritan Saurashtra Shavian Sinhala Sundanese
    Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil Telugu Thaana Thai Tibetan Tifinagh
    Ugaritic Unknown Vai Yi""".split()  # noqa: SIM905
)

UNICODE = dict.fromkeys(CATEGORIES | SCRIPTS, 0) | {
    "Any": ALL, "L": LETTERS, "Ll": LOWER, "Lu": UPPER, "N": DIGITS, "Nd": DIGITS, "P": mask_of("-._"),
    "Pc": mask_of("_"), "Pd": mask_of("-"), "Po": mask_of("."), "Latin": LETTERS, "Common": DIGITS | mask_of("-._"),
}  # fmt: skip  # `\p{Name}` → its characters

UNICODE_FOLDED = {"Ll": LOWER | mask_of("KS"), "Lu": LETTERS}
"""`(?i)\\p{Name}`, if it differs. RE2/J's table of characters that fold to Ll lacks A to Z; google-re2's has them."""

PERL = {
    "d": DIGITS, "D": ALL & ~DIGITS, "s": 0, "S": ALL, "w": WORD, "W": ALL & ~WORD,
}  # fmt: skip

POSIX = {
    "alnum": LETTERS | DIGITS, "alpha": LETTERS, "ascii": ALL, "blank": 0, "cntrl": 0, "digit": DIGITS, "graph": ALL,
    "lower": LOWER, "print": ALL, "punct": mask_of("-._"), "space": 0, "upper": UPPER, "word": WORD,
    "xdigit": DIGITS | mask_of("abcdefABCDEF"),
}  # fmt: skip


_HEX = POSIX["xdigit"]
_MARKS = POSIX["punct"]

_PLAIN = {
    **{category: UNICODE[category] for category in CATEGORIES},
    **{name.capitalize(): mask for name, mask in POSIX.items() if name not in ("ascii", "word", "xdigit")},
    "ASCII": ALL, "XDigit": _HEX, "L1": ALL, "LD": LETTERS | DIGITS, "LC": LETTERS, "Cn": 0,
}  # fmt: skip  # categories and POSIX classes, also after `Is` and `gc=`

_JAVA_METHODS = {
    "LowerCase": LOWER, "UpperCase": UPPER, "Alphabetic": LETTERS, "Ideographic": 0, "TitleCase": 0, "Digit": DIGITS,
    "Defined": ALL, "Letter": LETTERS, "LetterOrDigit": LETTERS | DIGITS,
    "JavaIdentifierStart": LETTERS | mask_of("_"), "JavaIdentifierPart": WORD, "UnicodeIdentifierStart": LETTERS,
    "UnicodeIdentifierPart": WORD, "IdentifierIgnorable": 0, "SpaceChar": 0, "Whitespace": 0, "ISOControl": 0,
    "Mirrored": 0,
}  # fmt: skip  # names after `java`

_BINARY = {
    "ALPHABETIC": LETTERS, "LETTER": LETTERS, "IDEOGRAPHIC": 0, "LOWERCASE": LOWER, "UPPERCASE": UPPER,
    "TITLECASE": 0, "WHITE_SPACE": 0, "CONTROL": 0, "PUNCTUATION": _MARKS, "HEX_DIGIT": _HEX, "ASSIGNED": ALL,
    "NONCHARACTER_CODE_POINT": 0, "DIGIT": DIGITS, "ALNUM": LETTERS | DIGITS, "BLANK": 0, "GRAPH": ALL, "PRINT": ALL,
    "WORD": WORD, "JOIN_CONTROL": 0,
}  # fmt: skip  # names after `Is`, in any case

_SCRIPTS = {
    "LATIN": LETTERS, "LATN": LETTERS, "COMMON": DIGITS | _MARKS, "ZYYY": DIGITS | _MARKS,
    **dict.fromkeys( ("GREEK", "CYRILLIC", "HAN", "HIRAGANA", "KATAKANA", "HANGUL", "ARABIC", "HEBREW", "THAI"), 0 ),
}  # fmt: skip  # after `Is` and `script=`, in any case: the likely ones

_CASED = frozenset({"Lower", "Upper", "Lu", "Ll", "Lt", "LowerCase", "UpperCase", "TitleCase"}) | frozenset(
    {"LOWERCASE", "UPPERCASE", "TITLECASE"}
)


class UnknownClassError(Exception):
    """No Java version knows the name."""


def class_named(name: str, *, ignoring_case: bool, of_unicode: bool) -> int:
    """The characters of `\\p{name}`. UnknownClassError, UnsureError."""
    key, mask = _look_up(name)
    if mask is None:
        if of_unicode or name.startswith(("Is", "In")) or "=" in name:  # (?U) allows POSIX names in any case
            raise UnsureError(f"\\p{{{name}}}")
        raise UnknownClassError
    if ignoring_case and key in _CASED:
        raise UnsureError(f"\\p{{{name}}} under (?i), which not all Javas read alike")
    return mask


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
        return name[4:], _JAVA_METHODS.get(name[4:])
    if not name.startswith("Is"):
        return name, _PLAIN.get(name)
    short = name[2:]
    for key, table in ((short.upper(), _BINARY), (short, _PLAIN), (short.upper(), _SCRIPTS)):
        if key in table:
            return key, table[key]
    return short, None
