"""Pictures of a terminal show what commands print now; `make pictures` writes them."""

from pathlib import Path

from tests.cli.command import Kohort
from tests.docs import architecture
from tests.docs.pages import pages
from tests.docs.pictures import DIRECTORY, PICTURES, SCREENS_OF_TOP, draw


def test_pictures_show_what_is_printed(tmp_path: Path) -> None:
    kohort = Kohort(tmp_path)
    kohort("demo").succeeded()
    for name in (*PICTURES, *SCREENS_OF_TOP):
        assert (DIRECTORY / f"{name}.svg").read_text(encoding="utf-8") == draw(name, kohort), name


def test_every_picture_is_in_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in pages())
    files = {file.stem for file in DIRECTORY.iterdir()}
    assert files == {*PICTURES, *SCREENS_OF_TOP}
    assert {name for name in files if f"pictures/{name}.svg)" not in text} == set()


def test_the_picture_of_the_folders_follows_the_import_rules() -> None:
    assert architecture.PICTURE.read_text(encoding="utf-8") == architecture.draw(), "make pictures"
    names = {name for layer in architecture.layers() for name in layer}
    assert {folder for folder in names if not architecture.summary(architecture.ROOT / folder)} == set()
