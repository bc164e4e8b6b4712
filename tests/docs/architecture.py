"""The picture of the architecture: `python -m tests.docs.architecture` writes it, as `make pictures` does. Folders
and their order come from the import rules in pyproject.toml, texts from the folders' docstrings."""

import ast
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "architecture.svg"
_WIDTH, _LINE, _MARGIN, _LONGEST = 860, 19, 12, 95
_STYLE = (
    "text{font:13px sans-serif;fill:#24292f}.name{font:bold 14px monospace}.part{font:12px monospace}"
    "rect{fill:#f6f8fa;stroke:#8c959f}path{stroke:#8c959f;fill:none}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#161b22;stroke:#6e7681}path{stroke:#6e7681}}"
)


def layers() -> list[list[str]]:
    """The top folders, each row importing only what is below it."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layered,) = [rule for rule in rules["contracts"] if rule["name"] == "Imports point one way"]
    return [layer.split(" | ") for layer in layered["layers"]]


def summary(folder: Path) -> str:
    """The first line of a package's docstring, up to a colon if it is long."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    line = text.partition("\n")[0].removesuffix(".")
    return line if len(line) <= _LONGEST else line.partition(":")[0]


def parts(folder: Path) -> list[Path]:
    return sorted(init.parent for init in folder.glob("*/__init__.py"))


def draw() -> str:
    shapes: list[str] = []
    top = _MARGIN
    for names in layers():
        width = (_WIDTH - _MARGIN * (len(names) + 1)) // len(names)
        height = max(_height(ROOT / name) for name in names)
        for column, name in enumerate(names):
            shapes += _box(ROOT / name, _MARGIN + column * (width + _MARGIN), top, width, height)
        top += height + 2 * _MARGIN
        shapes.append(f'<path d="M{_WIDTH // 2} {top - 2 * _MARGIN}v{2 * _MARGIN - 4}m-4-5l4 5l4-5"/>')
    shapes.pop()
    height = top - _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">\n'
        f"<title>The folders of Kohort: each imports only what is below it</title>\n<style>{_STYLE}</style>\n"
        + "\n".join(shapes)
        + "\n</svg>\n"
    )


def _height(folder: Path) -> int:
    return _MARGIN + _LINE * (2 + len(parts(folder)))


def _box(folder: Path, left: int, top: int, width: int, height: int) -> list[str]:
    lines = [("name", f"{folder.name}/", 0), ("", summary(folder), 1)]
    lines += [("part", f"{part.name}/", row) for row, part in enumerate(parts(folder), 2)]
    texts = [
        f'<text class="{kind}" x="{left + 12}" y="{top + 20 + row * _LINE}">{escape(text)}</text>'
        for kind, text, row in lines
    ]
    texts += [
        f'<text x="{left + 120}" y="{top + 20 + row * _LINE}">{escape(summary(part))}</text>'
        for row, part in enumerate(parts(folder), 2)
    ]
    return [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="6"/>', *texts]


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
