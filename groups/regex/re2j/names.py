"""The Unicode classes that RE2/J 1.8 knows by name, and which characters of topic names are in them.

Source: the keys of `com.google.re2j.UnicodeTables` in the jar that Kafka 4.3 ships; a test compares them.
"""

from __future__ import annotations

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
    "Any": ALL,
    "L": LETTERS,
    "Ll": LOWER,
    "Lu": UPPER,
    "N": DIGITS,
    "Nd": DIGITS,
    "P": mask_of("-._"),
    "Pc": mask_of("_"),
    "Pd": mask_of("-"),
    "Po": mask_of("."),
    "Latin": LETTERS,
    "Common": DIGITS | mask_of("-._"),
}
"""`\\p{Name}` → its characters."""

UNICODE_FOLDED = {"Ll": LOWER | mask_of("KS"), "Lu": LETTERS}
"""`(?i)\\p{Name}`, where that differs. RE2/J's table of what folds to Ll lacks A to Z; google-re2's does not."""

PERL = {
    "d": DIGITS, "D": ALL & ~DIGITS, "s": 0, "S": ALL, "w": WORD, "W": ALL & ~WORD,
}  # fmt: skip

POSIX = {
    "alnum": LETTERS | DIGITS,
    "alpha": LETTERS,
    "ascii": ALL,
    "blank": 0,
    "cntrl": 0,
    "digit": DIGITS,
    "graph": ALL,
    "lower": LOWER,
    "print": ALL,
    "punct": mask_of("-._"),
    "space": 0,
    "upper": UPPER,
    "word": WORD,
    "xdigit": DIGITS | mask_of("abcdefABCDEF"),
}
