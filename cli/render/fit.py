"""Fit a table to the width of a terminal: shorten ids, fold texts, and take out columns."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from cli.render.cells import text_width
from cli.render.document import Column
from cli.render.lines import CUT, beginning

GAP = 2  # Blanks between two columns
PROSE = 30  # Minimum width of a longer text
FEW_WORDS, LONGEST_WORD = 3, 40
"""A text of more words than this is a sentence; maximum width that its words get."""
LEAST_ID = 12  # Minimum width of a shortened id, including the mark
LEAST_PROTOCOL = len("cooperative-sticky")
"""Minimum width of assignors and protocols while groups and topics can still be shortened."""
LEAST_TAIL = 4  # Minimum number of columns kept at the end of an id, where generated ids differ
FEW_SECTIONS = 3
"""Sections of rows that share values; more of them are avoided, even if ids must be shortened."""
_PROTOCOLS = frozenset({"PROTOCOL", "ASSIGNOR", "ASSIGNORS"})
_STAGES: Sequence[tuple[frozenset[str], int]] = (
    (frozenset({"CONSUMER-ID", "MEMBER", "CLIENT-ID", "GROUP-INSTANCE-ID", "LEADER"}), LEAST_ID),
    (frozenset({"HOST", "COORDINATOR"}), LEAST_ID),
    (_PROTOCOLS, LEAST_PROTOCOL),
    (frozenset({"GROUP"}), LEAST_ID),
    (frozenset({"TOPIC", "SUBJECT", "TARGET"}), LEAST_ID),
    (_PROTOCOLS, LEAST_ID),
)
"""Headings of ids that can be shortened, and how far; later ones only if the earlier ones are not enough."""
Texts = Sequence[Sequence[str]]


def column_widths(columns: Sequence[Column], rows: Texts, *, with_heads: bool = True) -> list[int]:
    return [
        max((_head_width(column) if with_heads else 0, *(text_width(row[position]) for row in rows)))
        for position, column in enumerate(columns)
    ]


def stacked_heads(columns: Sequence[Column], rows: Texts) -> tuple[Column, ...]:
    """The columns; headings wider than all cells below them are put on two lines: `CURRENT-`, `OFFSET`."""
    widths = column_widths(columns, rows, with_heads=False)
    return tuple(
        replace(column, name=_stacked(column.name)) if text_width(column.name) > width else column
        for column, width in zip(columns, widths, strict=True)
    )


def _stacked(name: str) -> str:
    """A heading broken after the hyphen or at the blank nearest to its middle; unchanged if it has neither."""
    places = [position for position, letter in enumerate(name, 1) if letter in "- " and position < len(name)]
    if not places:
        return name
    position = min(places, key=lambda position: max(position, len(name) - position))
    return f"{name[:position].rstrip()}\n{name[position:]}"


def _head_width(column: Column) -> int:
    return max(map(text_width, column.name.split("\n")))


def table_width(widths: Collection[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def shortened_ids(columns: Sequence[Column], rows: Texts, width: int) -> list[list[str]]:
    """The rows with their ids shortened until the table fits, but only while ids stay unique within their column."""
    widths = column_widths(columns, rows)
    least: dict[int, int] = {}
    for stage, least_id in _STAGES:
        for position, column in enumerate(columns):
            if "".join(column.name.split()) in stage:
                ids = {row[position] for row in rows}
                least[position] = max(_head_width(column), _least_width(ids, least_id))
        _narrow(widths, least, width)
    shorter = {position: _shortened({row[position] for row in rows}, widths[position]) for position in least}
    return [
        [shorter[position][text] if position in shorter else text for position, text in enumerate(row)]
        for row in rows
    ]


def _least_width(ids: Collection[str], least: int) -> int:
    """The smallest width, at least `least`, in which the ids stay distinct."""
    longest = max(map(text_width, ids), default=0)
    return next((most for most in range(least, longest) if _tail(ids, most) is not None), longest)


def _tail(ids: Collection[str], most: int) -> int | None:
    """The length of the shortest end that keeps ids in `most` columns distinct."""
    for tail in range(LEAST_TAIL, most - LEAST_TAIL):
        if len({without_middle(text, most, tail) for text in ids}) == len(ids):
            return tail
    return None


def short_names(names: Iterable[str], most: int) -> dict[str, str]:
    """Each name in `most` columns, or in as many as keep the names distinct; longer names lose their middle."""
    name_set = set(names)
    return _shortened(name_set, max(_least_width(name_set, most), most))


def _shortened(ids: Collection[str], most: int) -> dict[str, str]:
    if all(text_width(text) <= most for text in ids):
        return {text: text for text in ids}
    tail = _tail(ids, most) or LEAST_TAIL
    return {text: without_middle(text, most, tail) for text in ids}


def without_middle(text: str, most: int, tail: int) -> str:
    """At most `most` columns of a text, `tail` of them from its end: `consumer-billing-1-3f0c…2e00`."""
    if text_width(text) <= most:
        return text
    return beginning(text, most - 1 - tail) + CUT + beginning(text[::-1], tail)[::-1]


def folded_widths(columns: Sequence[Column], rows: Texts, width: int) -> list[int]:
    """The widths of columns; texts are narrowed until the table fits, or as far as they can be folded. Short texts take
    at most two lines. Ids are not broken, because a broken id cannot be copied, except very long ones in a sentence."""
    widths = column_widths(columns, rows)
    _narrow(widths, _folded_least(columns, rows, widths), width)
    return widths


def foldable_width(columns: Sequence[Column], rows: Texts) -> int:
    """The most that folding texts can take off the width of the table; ids stay as they are."""
    widths = column_widths(columns, rows)
    least = _folded_least(columns, rows, widths)
    ids = frozenset[str]().union(*(stage for stage, _ in _STAGES))
    return sum(
        widths[position] - minimum for position, minimum in least.items() if columns[position].name not in ids
    )


def _folded_least(columns: Sequence[Column], rows: Texts, widths: Sequence[int]) -> dict[int, int]:
    least: dict[int, int] = {}
    for position, column in enumerate(columns):
        if not column.number:
            half = min(PROSE, (widths[position] + 1) // 2)
            longest = max((_longest_word(row[position]) for row in rows), default=0)
            least[position] = max(_head_width(column), half, longest)
    return least


def is_sentence(text: str) -> bool:
    """Whether a text has more words than an id or a state."""
    return len(text.split()) > FEW_WORDS


def _longest_word(text: str) -> int:
    longest = max(map(text_width, text.split()), default=0)
    return min(longest, LONGEST_WORD) if is_sentence(text) else longest


def _narrow(widths: list[int], least: Mapping[int, int], width: int) -> None:
    """Narrow the columns that have a least width, the widest first, until the table fits or all have that width."""
    while table_width(widths) > width:
        able = [position for position in least if widths[position] > least[position]]
        if not able:
            return
        widths[max(able, key=lambda position: widths[position])] -= 1


def repeating_columns(columns: Sequence[Column], rows: Texts, width: int) -> list[int]:
    """The text columns to take out so that the rest fits into the width, or all that can be taken out. Columns that
    cause many sections are last; of the others, the widest are first. A column can be taken out when its value changes
    at most every other row."""
    widths = column_widths(columns, rows)
    texts = [position for position, column in enumerate(columns) if not column.number]
    changes = {position: section_count(rows, [position]) for position in texts}
    able = [position for position, count in changes.items() if count <= max(1, len(rows) // 2)]
    able.sort(key=lambda position: (max(changes[position], FEW_SECTIONS), -widths[position]))
    taken: list[int] = []
    for position in able:
        if table_width([w for i, w in enumerate(widths) if i not in taken]) <= width:
            break
        if section_count(rows, [*taken, position]) <= max(1, len(rows) // 2):
            taken.append(position)
    return sorted(taken)


def section_count(rows: Texts, positions: Sequence[int]) -> int:
    """The number of runs of consecutive rows that have the same values in these columns."""
    return sum(1 for _ in groupby(rows, key=lambda row: [row[position] for position in positions]))
