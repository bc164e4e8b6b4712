"""The colors of the screens: a dark and a light theme, and the terminal's own sixteen colors."""

from collections.abc import Mapping

from cli.render.color import VARIABLE as COLOR
from cli.render.color import Color

DARK, LIGHT = "textual-dark", "textual-light"
OWN_DARK, OWN_LIGHT = "ansi-dark", "ansi-light"
VARIABLE = "TEXTUAL_THEME"
_FOLLOWING = {DARK: LIGHT, LIGHT: OWN_DARK, OWN_DARK: OWN_LIGHT}
_LIGHT_BACKGROUNDS = ("7", "15")


def is_colorless(environment: Mapping[str, str]) -> bool:
    """Whether `--color never` or NO_COLOR was given."""
    choice = environment.get(COLOR, "").lower()
    return choice == Color.NEVER.value or (choice != Color.ALWAYS.value and bool(environment.get("NO_COLOR")))


def first_theme(environment: Mapping[str, str], color_system: str | None) -> str | None:
    """The theme to begin with; None: the one that TEXTUAL_THEME names, which Textual obeys. Shades need 256 colors:
    with fewer colors or without any, the terminal's own. A terminal that names its background in COLORFGBG
    (rxvt, Konsole, iTerm2) decides between dark and light."""
    if environment.get(VARIABLE):
        return None
    is_light = environment.get("COLORFGBG", "").rpartition(";")[2] in _LIGHT_BACKGROUNDS
    if is_colorless(environment) or color_system in (None, "standard", "windows"):
        return OWN_LIGHT if is_light else OWN_DARK
    return LIGHT if is_light else DARK


def theme_after(theme: str) -> str:
    return _FOLLOWING.get(theme, DARK)
