"""Which stream gets color, and whether it can be read on light and dark terminals."""

import io

import pytest

from cli.render.color import CODES, has_color
from cli.render.headings import LAG_BAD, LAG_WARNING, role_of
from cli.render.lines import Role
from groups.listing import GroupState
from tests.cli.command import Kohort
from tests.support.terminals import TerminalText

PALETTES = {
    "xterm, dark": ("000000", "cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd", "ff0000 ff00ff"),
    "xterm, light": ("ffffff", "cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd", "ff0000 ff00ff"),
    "VGA": ("000000", "aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa", "ff5555 ff55ff"),
    "Windows Terminal": ("0c0c0c", "c50f1f 13a10e c19c00 0037da 881798 3a96dd", "e74856 b4009e"),
    "VS Code, dark": ("1e1e1e", "cd3131 0dbc79 e5e510 2472c8 bc3fbc 11a8cd", "f14c4c d670d6"),
    "VS Code, light": ("ffffff", "cd3131 00bc00 949800 0451a5 bc05bc 0598bc", "cd3131 bc05bc"),
    "Tango, dark": ("2e3436", "cc0000 4e9a06 c4a000 3465a4 75507b 06989a", "ef2929 ad7fa8"),
    "Tango, light": ("ffffff", "cc0000 4e9a06 c4a000 3465a4 75507b 06989a", "ef2929 ad7fa8"),
    "GNOME, dark": ("171421", "c01c28 26a269 a2734c 12488b a347ba 2aa1b3", "f66151 c061cb"),
    "GNOME, light": ("ffffff", "c01c28 26a269 a2734c 12488b a347ba 2aa1b3", "f66151 c061cb"),
    "macOS Basic": ("ffffff", "990000 00a600 999900 0000b2 b200b2 00a6b2", "e50000 e500e5"),
    "macOS Pro": ("000000", "990000 00a600 999900 0000b2 b200b2 00a6b2", "e50000 e500e5"),
    "One Light": ("fafafa", "e45649 50a14f c18401 0184bc a626a4 0997b3", "e45649 a626a4"),
    "Dracula": ("282a36", "ff5555 50fa7b f1fa8c bd93f9 ff79c6 8be9fd", "ff6e6e ff92df"),
}
"""Background; red, green, yellow, blue, magenta, cyan; the red and magenta of bold text."""


def luminance(color: str) -> float:
    parts = (int(color[start : start + 2], 16) / 255 for start in (0, 2, 4))
    red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def worst(code: str) -> float:
    """The least contrast of a code on any palette; bold is bright where the palette's user wants that."""
    contrasts = []
    for background, colors, bright in PALETTES.values():
        bold, number = code.startswith("1;"), int(code.removeprefix("1;")) - 31
        normal = colors.split()[number]
        brighter = dict(zip((0, 4), bright.split(), strict=True)).get(number) if bold else None
        contrasts.append(max(contrast(background, color) for color in filter(None, (normal, brighter))))
    return min(contrasts)


@pytest.mark.parametrize("role", [Role.GOOD, Role.WARNING, Role.BAD], ids=lambda role: role.name)
def test_colors_can_be_read_on_light_and_dark(role: Role) -> None:
    least = 2.1 if role is Role.GOOD else 3.0
    assert worst(CODES[role]) >= least
    assert worst("33") < 2  # yellow


def test_states_have_roles_and_lag_a_threshold() -> None:
    states = {state: role_of("STATE")(state.value) for state in GroupState}
    assert Role.PLAIN not in states.values()
    assert {states[GroupState.STABLE], states[GroupState.DEAD]} == {Role.GOOD, Role.BAD}
    lags = [role_of("LAG")(lag) for lag in (None, 0, LAG_WARNING - 1, LAG_WARNING, LAG_BAD, -1)]
    assert lags == [*[Role.PLAIN] * 3, Role.WARNING, Role.BAD, Role.BAD]


@pytest.mark.parametrize(
    ("environment", "on_terminal", "in_pipe"),
    [
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"CLICOLOR": "0"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"CLICOLOR_FORCE": "1", "TERM": "dumb"}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"NO_COLOR": "1", "KOHORT_COLOR": "always"}, True, True),
        ({"FORCE_COLOR": "1", "KOHORT_COLOR": "never"}, False, False),
        ({"NO_COLOR": "1", "KOHORT_COLOR": "auto"}, False, False),
    ],
    ids=str,
)
def test_who_gets_color(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], on_terminal: bool, in_pipe: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "KOHORT_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert (has_color(TerminalText()), has_color(io.StringIO())) == (on_terminal, in_pipe)


@pytest.mark.parametrize("line", ["--color always list", "list --color always"])
def test_the_option_is_before_or_after_the_command(kohort: Kohort, sample: object, line: str) -> None:
    answer = kohort.quick(f"{line} --embedded", str(sample)).succeeded()
    assert "\x1b[32mStable\x1b[0m" in answer.stdout
    for output in ("table", "json", "yaml", "csv", "markdown"):
        assert "\x1b" not in kohort.quick("list --output", output, "--embedded", str(sample)).stdout
