"""5,000 groups scroll, sort and filter; `make bench-top` measures how fast."""

from pathlib import Path

from tests.cli.verbs.top.driving import MIDDLE, Driven, drive, many_groups, saved

GROUPS = 5_000


def test_5000_groups_scroll_sort_and_filter(tmp_path: Path) -> None:
    groups, topics = many_groups(GROUPS)

    async def course(top: Driven) -> None:
        async def press(*keys: str) -> list[str]:
            await top.press(*keys)
            return [line.split()[0] for line in top.lines if line.startswith("group-")]

        await top.read()
        assert (await press("end"))[-1] == "group-4999"
        assert (await press("home"))[0] == "group-0000"
        assert (await press(*["pagedown"] * 3, *["down"] * 3))[0] > "group-0030"
        await press("home", "s", "s", "s", "s")
        lags = [int(line.split()[3]) for line in top.lines if line.startswith("group-")]
        assert lags == sorted(lags, reverse=True)
        assert lags[0] == 4 * 1000 - sum(range(4))
        await press("S")
        lags = [int(line.split()[3]) for line in top.lines if line.startswith("group-")]
        assert lags == sorted(lags)
        await press("slash", *"state:empty 49")
        empty = [name for number, name in enumerate(groups) if number % 4 == 3 and "49" in name]
        assert f"{len(empty)} of 5,000 groups" in top.text
        assert set(await press("enter")) < set(empty)

    drive(course, saved(tmp_path, groups, topics=topics), size=MIDDLE)
