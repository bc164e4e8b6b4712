"""Lines with roles, in the colors of the theme."""

from collections.abc import Sequence

from textual.content import Content

from cli.render.lines import Line, Role

_STYLES = {
    Role.HEADING: "bold",
    Role.STRONG: "bold",
    Role.FAINT: "$text-muted",
    Role.GOOD: "$text-success",
    Role.WARNING: "$text-warning",
    Role.BAD: "bold $text-error",
    Role.CHANGED: "reverse",
}


def lines_content(lines: Sequence[Line]) -> Content:
    return Content("\n").join(
        Content.assemble(*((piece.text, _STYLES.get(piece.role, "")) for piece in line)) for line in lines
    )
