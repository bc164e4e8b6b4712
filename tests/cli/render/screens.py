"""What eight commands show on a terminal of three widths; tests/golden/screens holds them with their colors."""

from contextlib import chdir
from pathlib import Path

from tests.cli.command import Kohort

DIRECTORY = Path(__file__).parents[2] / "golden" / "screens"
FLEET = DIRECTORY / "fleet.yaml"
WIDTHS = (80, 120, 200)
SCREENS = {
    "list": "list",
    "describe": "describe --all-groups",
    "migration": "describe payments-audit --migration",
    "plan": "plan invoices-service-production --to cooperative --client java:3.7.0",
    "blocked-plan": "plan payments-audit --to cooperative",
    "gate": "gate {plan} --step 1 --round 1",
    "diagnose": "diagnose --all-groups",
    "dry-run": "dry-run invoices-service-production --compare",
}
"""Commands by the name of their screen."""


def screen(kohort: Kohort, name: str, columns: int, directory: Path) -> str:
    """What a command shows; `directory` is for the plan of a gate."""
    command = SCREENS[name].format(plan=directory / "PLAN.yaml")
    if name == "gate":
        plan = kohort.quick(SCREENS["plan"], "--snapshot", FLEET, "--output", "yaml").succeeded()
        (directory / "PLAN.yaml").write_text(plan.stdout)
    with chdir(DIRECTORY):
        return kohort.screen(command, "--snapshot", FLEET.name, columns=columns)
