"""Sizes limited by `[tool.kohort.budget]` of pyproject.toml: `python -m tests.shipping.budget`, a part of `make
check`. A limit is raised together with a line of the changelog: what is new, and what it made unnecessary."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]


def limits(root: Path = ROOT) -> dict[str, int]:
    """The limit of each size, and of the processor seconds of `make test`."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(settings["tool"]["kohort"]["budget"])


@dataclass(slots=True)
class Sizes:
    """What a checkout's Python files contain; product is everything but tests and benchmarks."""

    product_lines: int = 0
    product_files: int = 0
    product_any: int = 0  # Uses of `Any`: imports of it do not count
    test_lines: int = 0
    test_files: int = 0
    classes: dict[str, list[str]] = field(default_factory=dict)  # The product files of each public class name

    @property
    def shared_class_names(self) -> dict[str, list[str]]:
        return {name: files for name, files in sorted(self.classes.items()) if len(files) > 1}

    def figures(self) -> dict[str, int]:
        """By the names that pyproject.toml uses, and the number of classes, which has no limit."""
        return {
            "product-lines": self.product_lines,
            "product-files": self.product_files,
            "product-any": self.product_any,
            "test-lines": self.test_lines,
            "test-files": self.test_files,
            "shared-class-names": len(self.shared_class_names),
            "classes": sum(map(len, self.classes.values())),
        }


def measure(files: Mapping[str, str]) -> Sizes:
    sizes = Sizes()
    for path, text in files.items():
        lines = text.count("\n")
        if path.startswith("tests/"):
            sizes.test_lines += lines
            sizes.test_files += 1
        elif not path.startswith("benchmarks/"):
            sizes.product_lines += lines
            sizes.product_files += 1
            _add_names(sizes, path, ast.parse(text))
    return sizes


def _add_names(sizes: Sizes, path: str, tree: ast.Module) -> None:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="Any"):
                sizes.product_any += 1
            case ast.ClassDef(name=name) if not name.startswith("_"):
                sizes.classes.setdefault(name, []).append(path)


def over(figures: Mapping[str, int], allowed: Mapping[str, int]) -> Iterator[str]:
    for name, figure in figures.items():
        if name in allowed and figure > allowed[name]:
            yield (
                f"{name}: {figure:,} is above the budget of {allowed[name]:,} in pyproject.toml. Take something out;"
                " or raise it, and say in the changelog what is new and what it made unnecessary."
            )


def _tracked() -> dict[str, str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.py"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return {
        name: (ROOT / name).read_text(encoding="utf-8") for name in names if name and (ROOT / name).exists()
    }


def main() -> int:
    sizes = measure(_tracked())
    figures, allowed = sizes.figures(), limits()
    for name, figure in figures.items():
        print(f"{name:20}{figure:>9,}" + (f" of {allowed[name]:,}" if name in allowed else ""))
    for name, files in sizes.shared_class_names.items():
        print(f"  {name}: {', '.join(files)}")
    problems = list(over(figures, allowed))
    for problem in problems:
        print(problem, file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
