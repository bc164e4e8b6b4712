"""Every rule is in the table of docs/diagnose.md, in its order."""

import re
from pathlib import Path

from groups.diagnosis.catalogue import RULES

PAGE = Path(__file__).parents[3] / "docs" / "diagnose.md"


def test_rules_are_documented_in_their_order() -> None:
    named = re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(), re.M)
    assert named == [rule.name for rule in RULES]
    assert len(set(named)) == len(named)
