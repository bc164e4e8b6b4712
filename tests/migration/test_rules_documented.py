"""docs/readiness.md lists every rule, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_rule_is_documented() -> None:
    page = (ROOT / "docs" / "readiness.md").read_text(encoding="utf-8")
    table = page[page.index("| rule |") :]
    documented = {
        name for row in table.splitlines() for name in re.findall(r"`([a-z-]+)`", row.split("|")[1])
    }
    sources = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "migration" / "rules").glob("*.py")
    )
    assert documented == set(
        re.findall(r'(?:rule=|(?:blocker|warning|info)\(\s*)"([a-z-]+)"', sources)
    ) | set(re.findall(r'"(regex-[a-z]+)"', sources))
