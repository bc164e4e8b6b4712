"""`make test-long` runs all that `make test` leaves out; what a schedule names is there."""

import re
from pathlib import Path

from tests.support.schedule import LONGEST, SHARED

ROOT = Path(__file__).parents[2]
MAKEFILE = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", "targets.mk")).replace(
    "\\\n", " "
)
USES = re.compile(r"from tests\.support\.long import")


def test_every_long_test_is_in_a_target_of_make_test_long() -> None:
    (parts,) = re.findall(r"^test-long: ([^#]*)", MAKEFILE, re.MULTILINE)
    recipes = [re.findall(rf"^{part}: .*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE) for part in parts.split()]
    named = {path for (recipe,) in recipes for path in re.findall(r"tests/\S+", recipe)}
    assert all((ROOT / path).exists() for path in named), named
    long = {
        path.relative_to(ROOT)
        for path in (ROOT / "tests").rglob("test_*.py")
        if USES.search(path.read_text(encoding="utf-8"))
    }
    assert {str(path) for path in long if not named & {str(path), *map(str, path.parents)}} == set()
    assert len(long) > 10


def test_the_longest_units_are_there() -> None:
    assert [unit for unit in LONGEST if unit not in SHARED and not (ROOT / unit).is_file()] == []
