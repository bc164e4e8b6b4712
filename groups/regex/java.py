"""The syntax of java.util.regex, for topic names; where Java 8 to 25 differ, the tree has Unsure with the construct."""

from dataclasses import dataclass, replace

from groups.regex import tree as syntax
from groups.regex.character_classes import UnknownClassError, class_named
from groups.regex.program import UnsureError

MAX_DEPTH = 60  # the most levels of nested groups; deeper patterns are not parsed
MAX_COUNT = 0x7FFFFFFF
_END = "\0"
_SPACE = " \t\n\r\f\v"


class JavaSyntaxError(Exception):
    """java.util.regex refuses the pattern; the message is Java's description."""


def parse_java(pattern: str) -> syntax.Tree:
    """Parse a pattern as Pattern.compile does. JavaSyntaxError if Java refuses it, UnsureError if uncertain."""
    return _Parser(pattern).parse()


@dataclass(frozen=True, slots=True)
class _Flags:
    i: bool = False  # Ignore case
    u: bool = False  # Ignore case according to Unicode
    x: bool = False  # Comments and free spacing
    c: bool = False  # Canonical equivalence
    U: bool = False  # Unicode's definitions of character classes


class _Parser:
    def __init__(self, pattern: str) -> None:
        text = _without_quotes(pattern)
        self.length = len(text)
        self.text = text + _END * 8  # Java's parser reads zeros after the end
        self.at = 0
        self.flags = _Flags()
        self.names: set[str] = set()
        self.depth = 0

    def parse(self) -> syntax.Tree:
        tree = self.choice()
        if self.at != self.length:
            if self.peek() == ")":
                raise JavaSyntaxError("Unmatched closing ')'")
            raise JavaSyntaxError("Unescaped trailing backslash")
        return tree

    # Reading. In free spacing, blanks and comments are skipped here.

    def peek(self) -> str:
        if self.flags.x:
            self.skip_blanks()
        return self.text[self.at]

    def next(self) -> str:
        self.at += 1
        return self.peek()

    def read(self) -> str:
        character = self.peek()
        self.at += 1
        return character

    def skip_blanks(self) -> None:
        while self.text[self.at] in _SPACE or self.text[self.at] == "#":
            if self.text[self.at] == "#":
                while self.at < self.length and self.text[self.at] not in "\n\r\u0085\u2028\u2029":
                    self.at += 1
                if self.at >= self.length:
                    return
            if self.text[self.at] in _SPACE:
                self.at += 1
            elif self.text[self.at] != "#":
                return

    # Structure

    def choice(self) -> syntax.Tree:
        options = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            options.append(self.sequence())
        return syntax.choice_of(options)

    def sequence(self) -> syntax.Tree:
        parts: list[syntax.Tree] = []
        while True:
            character = self.peek()
            if character in "|)" or (character == _END and self.at >= self.length):
                return syntax.sequence_of(parts)
            if character in "*+?":
                raise JavaSyntaxError(f"Dangling meta character '{character}'")
            if character == "(":
                group = self.group()
                if group is not None:
                    parts.append(group)
                continue
            parts.append(self.quantified(self.item(character)))

    def item(self, character: str) -> syntax.Tree:
        match character:
            case "[":
                return self.unless_canonical(syntax.Chars(self.character_class(consume=True)))
            case "\\":
                return self.escape()
            case "{":
                return syntax.NOTHING  # a count with nothing before it repeats nothing
        self.at += 1
        if character in syntax.SYMBOLS:
            return syntax.SYMBOLS[character]
        return self.unless_canonical(syntax.Chars(self.single(character)))

    def unless_canonical(self, tree: syntax.Tree) -> syntax.Tree:
        return syntax.Unsure("(?c)") if self.flags.c else tree

    # Repetitions

    def quantified(self, body: syntax.Tree) -> syntax.Tree:
        character = self.peek()
        if character == "{":
            least, most = self.counts()
        elif character in "*+?":
            least, most = syntax.QUANTIFIERS[character]
            self.at += 1
        else:
            return body
        greed = syntax.Greed.GREEDY
        following = self.peek()
        if following in "?+":
            self.at += 1
            greed = syntax.Greed.LAZY if following == "?" else syntax.Greed.POSSESSIVE
        return syntax.Repeat(body, least, most, greed)

    def counts(self) -> tuple[int, int | None]:
        self.at += 1
        if self.text[self.at] not in "0123456789":
            raise JavaSyntaxError("Illegal repetition")
        least = self.number()
        most: int | None = least
        if self.peek() == ",":
            self.at += 1
            most = None if self.peek() == "}" else self.number()
        if self.read() != "}":
            raise JavaSyntaxError("Unclosed counted closure")
        if most is not None and most < least:
            raise JavaSyntaxError("Illegal repetition range")
        return least, most

    def number(self) -> int:
        digits = ""
        while self.peek() in "0123456789":
            digits += self.read()
        if len(digits) > 12 or int(digits or "0") > MAX_COUNT:
            raise JavaSyntaxError("Illegal repetition range")
        return int(digits or "0")

    # Groups

    def group(self) -> syntax.Tree | None:
        """Parse a group with its quantifier; None for flags alone, `(?i)`."""
        self.deeper()
        saved = self.flags
        kind = ""
        if self.next() == "?":
            kind = self.group_kind()
            if kind == "flags":
                self.depth -= 1
                return None
        body = self.choice()
        if self.read() != ")":
            raise JavaSyntaxError("Unclosed group")
        self.flags = saved
        self.depth -= 1
        return self.quantified(_grouped(kind, body))

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnsureError(f"more than {MAX_DEPTH} groups inside each other")

    def group_kind(self) -> str:
        """Read what follows `(?`, up to the start of the body."""
        self.at += 1
        character = self.text[self.at]
        self.at += 1
        if character in ":=!>":
            return character
        if character == "<":
            following = self.read()
            if following in "=!":
                return f"<{following}"
            name = self.group_name(following)
            if name in self.names:
                raise JavaSyntaxError(f"Named capturing group <{name}> is already defined")
            self.names.add(name)
            return ""
        if character in "$@":
            raise JavaSyntaxError("Unknown group type")
        self.at -= 1
        self.change_flags()
        following = self.read()
        if following == ")":
            return "flags"
        if following != ":":
            raise JavaSyntaxError("Unknown inline modifier")
        return ":"

    def group_name(self, first: str) -> str:
        if not (first.isascii() and first.isalpha()):
            raise JavaSyntaxError("capturing group name does not start with a Latin letter")
        name = first
        while (character := self.read()).isascii() and character.isalnum():
            name += character
        if character != ">":
            raise JavaSyntaxError("named capturing group is missing trailing '>'")
        return name

    def change_flags(self) -> None:
        value = True
        while True:
            character = self.peek()
            if character == "-" and value:
                value = False
            elif character in "iuxc":
                self.flags = replace(self.flags, **{character: value})
            elif character == "U":
                self.flags = replace(self.flags, u=value, U=value)
            elif character not in "msd":  # these make no difference for topic names
                return
            self.at += 1

    # Escapes

    def escape(self) -> syntax.Tree:
        following = self.text[self.at + 1]
        if following in "pP":
            return self.unless_canonical(syntax.Chars(self.property()))
        if following in _PLACES:
            self.at += 2
            if following == "b" and self.text.startswith("{g}", self.at):
                self.at += 3
                return syntax.Unsure(r"\b{g}")
            return syntax.Assertion(_PLACES[following])
        if following in "123456789":
            self.at += 2
            while self.text[self.at] in "0123456789":
                self.at += 1
            return syntax.Unsure("back reference")
        if following == "k":
            self.at += 2
            if self.read() != "<":
                raise JavaSyntaxError("\\k is not followed by '<' for named capturing group")
            name = self.group_name(self.read())
            if name not in self.names:
                raise JavaSyntaxError(f"named capturing group <{name}> does not exist")
            return syntax.Unsure("back reference")
        if following == "R":
            self.at += 2
            return syntax.Chars(0)
        if following == "X":
            self.at += 2
            return syntax.Unsure(r"\X")
        mask = self.class_escape()
        return self.unless_canonical(syntax.Chars(self.single(self.character()) if mask is None else mask))

    def class_escape(self) -> int | None:
        """The set of a class escape such as `\\d`, if there is one at this place."""
        mask = _CLASSES.get(self.text[self.at + 1])
        if mask is not None:
            self.at += 2
        return mask

    def character(self) -> str:
        following = self.text[self.at + 1]
        self.at += 2
        if following in _CONTROL:
            return _CONTROL[following]
        match following:
            case "0":
                return self.octal()
            case "x":
                return self.hexadecimal()
            case "u":
                return self.utf16()
            case "c":
                if self.at >= self.length:
                    raise JavaSyntaxError("Illegal control escape sequence")
                return chr(ord(self.read()) ^ 64)
            case "N":
                raise UnsureError(r"\N{…}")
        if following.isascii() and following.isalpha():
            raise JavaSyntaxError("Illegal/unsupported escape sequence")
        return following

    def octal(self) -> str:
        digits = ""
        while len(digits) < 3 and self.peek() in "01234567" and (len(digits) < 2 or digits[0] in "0123"):
            digits += self.read()
        if not digits:
            raise JavaSyntaxError("Illegal octal escape sequence")
        return chr(int(digits, 8))

    def hexadecimal(self) -> str:
        if self.peek() == "{":
            self.at += 1
            digits = ""
            while self.peek() in syntax.HEX_DIGITS:
                digits += self.read()
                if int(digits, 16) > 0x10FFFF:
                    raise JavaSyntaxError("Hexadecimal codepoint is too big")
            if digits and self.read() != "}":
                raise JavaSyntaxError("Unclosed hexadecimal escape sequence")
        else:
            digits = "".join(self.read() for _ in range(2))
        if not digits or any(digit not in syntax.HEX_DIGITS for digit in digits):
            raise JavaSyntaxError("Illegal hexadecimal escape sequence")
        return chr(int(digits, 16))

    def utf16(self) -> str:
        digits = "".join(self.read() for _ in range(4))
        if any(digit not in syntax.HEX_DIGITS for digit in digits):
            raise JavaSyntaxError("Illegal Unicode escape sequence")
        unit = int(digits, 16)
        if 0xD800 <= unit <= 0xDBFF and self.text.startswith("\\u", self.at):
            raise UnsureError(r"\u of a surrogate")
        return chr(unit)

    def property(self) -> int:
        negative = self.text[self.at + 1] == "P"
        self.at += 1
        if self.next() == "{":
            self.at += 1
            end = self.text.find("}", self.at)
            if end < 0:
                raise JavaSyntaxError("Unclosed character family")
            name = self.text[self.at : end]
            if not name:
                raise JavaSyntaxError("Empty character family")
            self.at = end + 1
        else:
            name = self.text[self.at]
            self.at += 1
        try:
            mask = class_named(name, ignoring_case=self.flags.i, of_unicode=self.flags.U)
        except UnknownClassError:
            raise JavaSyntaxError(f"Unknown character property name {{{name}}}") from None
        return syntax.ALL & ~mask if negative else mask

    def single(self, character: str) -> int:
        if not self.flags.i:
            return syntax.mask_of(character)
        if not character.isascii():
            if self.flags.u and _folds_to_ascii(character):
                raise UnsureError(f"{character} under (?iu)")
            return 0
        return syntax.fold(syntax.mask_of(character))

    # Classes

    def character_class(self, *, consume: bool) -> int:
        """A class from its bracket, or the operand after `&&`; set operations have the meaning of Java 9."""
        self.deeper()
        end = self.text.find("]", self.at)
        inside = self.text[self.at : end if end >= 0 else self.length]
        if self.flags.x and any(blank in inside for blank in (*_SPACE, "#")):
            raise UnsureError("blanks in a class under (?x)")
        self.at += 1
        negative = consume and self.text[self.at] == "^"
        self.at += negative
        mask, empty, operated = 0, True, False
        while True:
            character = self.text[self.at]
            if character == "]" and not empty:
                self.at += consume
                self.depth -= 1
                if negative and operated:
                    raise UnsureError("a negated class with a set operation, which Java 8 reads otherwise")
                return syntax.ALL & ~mask if negative else mask
            if character == _END and self.at >= self.length:
                raise JavaSyntaxError("Unclosed character class")
            if character == "[":
                mask |= self.character_class(consume=True)
                operated = True
            elif self.text.startswith("&&", self.at):
                mask = self.intersection(mask, empty)
                operated = True
            else:
                if operated and not consume:
                    raise UnsureError("characters after a set operation in an intersection")
                mask |= self.class_item()
            empty = False

    def intersection(self, left: int, empty: bool) -> int:
        self.at += 2
        right: int | None = None
        while self.text[self.at] not in "]&":
            if self.text[self.at] == "[":
                item = self.character_class(consume=True)
            else:
                self.at -= 1
                item = self.character_class(consume=False)
            right = item if right is None else right | item
        if self.text[self.at] == "&" and not self.text.startswith("&&", self.at):
            raise UnsureError("an ampersand after a set operation")
        if right is None:
            if empty:
                raise JavaSyntaxError("Bad class syntax")
            if self.text[self.at] == "&":
                raise UnsureError("an empty set operation")
            return left
        return right if empty else left & right

    def class_item(self) -> int:
        if self.text[self.at] == "\\":
            following = self.text[self.at + 1]
            if following in "pP":
                return self.property()
            if following == "v" and self.text[self.at + 2] == "-":
                raise UnsureError(r"\v in a range")
            mask = self.class_escape()
            if mask is not None:
                return mask
            if following in "AbBGRXzZk123456789":
                raise JavaSyntaxError("Illegal/unsupported escape sequence")
            low = self.character()
        else:
            low = self.text[self.at]
            self.at += 1
        if self.text[self.at] != "-" or self.text[self.at + 1] in "[]":
            return self.single(low)
        self.at += 1
        return self.range(low)

    def range(self, low: str) -> int:
        if self.text[self.at] == "\\":
            following = self.text[self.at + 1]
            if following in _CLASSES or following in "pP":
                raise JavaSyntaxError("Illegal character range")
            if following in "AbBGRXzZk123456789":
                raise JavaSyntaxError("Illegal/unsupported escape sequence")
            high = self.character()
        else:
            high = self.text[self.at]
            self.at += 1
        if high < low:
            raise JavaSyntaxError("Illegal character range")
        mask = syntax.mask_between(ord(low), ord(high))
        if not self.flags.i:
            return mask
        if self.flags.u and not high.isascii():
            raise UnsureError("a range beyond ASCII under (?iu)")
        return syntax.fold(mask) | syntax.mask_of(
            other for other in syntax.characters_of(syntax.ALL) if low <= other.swapcase() <= high
        )


_PLACES = {
    "A": syntax.Boundary.START, "b": syntax.Boundary.WORD_EDGE, "B": syntax.Boundary.NO_WORD_EDGE,
    "Z": syntax.Boundary.END, "z": syntax.Boundary.END,
    "G": syntax.Boundary.START,  # the end of the last match, here always the start of the name
}  # fmt: skip
_CLASSES = {
    "d": syntax.DIGITS, "D": syntax.ALL & ~syntax.DIGITS, "w": syntax.WORD, "W": syntax.ALL & ~syntax.WORD,
    "s": 0, "S": syntax.ALL, "h": 0, "H": syntax.ALL, "v": 0, "V": syntax.ALL,
}  # fmt: skip
_CONTROL = {"a": "\a", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _folds_to_ascii(character: str) -> bool:
    """Long s, Kelvin sign, dotless i and dotted I: other cases of ASCII letters in some Java versions."""
    return character in "\u017f\u212a\u0130\u0131"


def _grouped(kind: str, body: syntax.Tree) -> syntax.Tree:
    match kind:
        case "=" | "!":
            return syntax.Lookaround(body, behind=False, negative=kind == "!")
        case "<=" | "<!":
            _check_length(body)
            return syntax.Lookaround(body, behind=True, negative=kind == "<!")
        case ">":
            return syntax.Atomic(body)
    return body


def _check_length(tree: syntax.Tree) -> None:
    """UnsureError unless a look-behind has a simple maximum length: Java requires one and may compute it wrongly."""
    match tree:
        case syntax.Sequence(parts) | syntax.Choice(parts):
            for part in parts:
                _check_length(part)
        case syntax.Repeat(body, _, most):
            if most is None:
                raise UnsureError("a look-behind without a longest match")
            if most > 1 and not isinstance(body, syntax.Chars):
                raise UnsureError("a counted group in a look-behind")
            _check_length(body)
        case syntax.Atomic() | syntax.Lookaround():
            raise UnsureError("a group of a special kind in a look-behind")
        case syntax.Unsure(construct):
            raise UnsureError(construct)


def _without_quotes(pattern: str) -> str:
    """Replace `\\Q…\\E` with escapes, as Java does before it parses the pattern."""
    if "\\Q" not in pattern:
        return pattern
    written: list[str] = []
    at, quoted, first = 0, False, False
    while at < len(pattern):
        pair, character = pattern[at : at + 2], pattern[at]
        if pair == ("\\E" if quoted else "\\Q"):
            quoted = first = not quoted
            at += 2
            continue
        if not quoted:
            written.append(pair if character == "\\" else character)
            at += len(written[-1])
            continue
        if character in "0123456789" and first:
            written.append(f"\\x3{character}")  # otherwise it could continue an escape before the quotation
        elif character.isascii() and not character.isalnum():
            written.append("\\" + character)
        else:
            written.append(character)
        first = False
        at += 1
    return "".join(written)
