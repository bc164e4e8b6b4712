"""Names that shells take for something else."""

BEGINNINGS = ("~home", "#comment", " leading and trailing ", "$(touch run)", "'\"\\ all at once $x")
"""Odd from their first character on."""

ODD_NAMES = tuple(
    f"{letter}{rest}"
    for letter, rest in zip(
        "abcdefghijklmnopqrstuvwxyz",
        (
            " words", "t's", 'y "hi"', ":eu:billing", "cost$HOME", "`touch run`", "*?[ab]", "ïnïcødé-日本", "\\slash\\",
            ";amp&pipe|<in>out", "!bang!!", "=value", "@host", "(x)", "{a,b}", ",separated", "%cent^caret", "~x#y",
            " it's 'quoted' \"twice\"",
        ),
        strict=False,
    )
)  # fmt: skip
"""No two of them begin with the same letter."""
