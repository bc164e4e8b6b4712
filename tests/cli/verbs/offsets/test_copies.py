"""`kohort offsets export`, `import` and `clone` on a real broker, and files that go back and forth to Kafka's tool."""

import csv
import io
import os
import random
import resource
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from groups.offsets.offsets_csv import MalformedOffsets, read_offsets
from tests.cli.command import Kohort
from tests.cli.offset_rig import OffsetRig, after
from tests.cli.stories import Story
from tests.kafka.members import fresh_name


@pytest.fixture(scope="module")
def topic(session_rig: OffsetRig) -> str:
    """Three partitions: 20 records, 20 of which 5 are gone, none."""
    return session_rig.topic([20, 20, 0], deleted={1: 5})


def exported(rig: OffsetRig, *args: str) -> str:
    answer = rig.kohort.quick("offsets export", *args, "-b", rig.broker.bootstrap).succeeded(stderr="")
    return answer.stdout


def test_an_export_has_the_rows_of_the_tools(rig: OffsetRig, topic: str) -> None:
    group, other = (rig.group({(topic, 0): 7, (topic, 1): 12}) for _ in range(2))
    for groups in ([group], [group, other]):
        words = [word for name in groups for word in ("--group", name)]
        reported = rig.tool(
            "--reset-offsets", "--export", "--dry-run", "--to-current", "--all-topics", *words
        )
        rows = list(csv.reader(io.StringIO(exported(rig, *groups))))
        assert sorted(rows) == sorted(csv.reader(io.StringIO(reported.stdout)))
        assert (rows[-1], {len(row) for row in rows[:-1]}) == ([], {2 + len(groups)})
    assert exported(rig, group, "--with-group").startswith(f"{group},{topic},0,7\n")
    assert exported(rig, group, "--topic", f"{topic}:1") == f"{topic},1,12\n\n"


@pytest.mark.parametrize("name", ["plain", 'a,b "c"', "ein Döner", "a=b;c:d", "-dash"])
def test_a_file_goes_round(rig: OffsetRig, topic: str, tmp_path: Path, name: str) -> None:
    group = rig.group({(topic, 0): 7, (topic, 1): 12, (topic, 2): 0}, f"{name}{fresh_name('group')}")
    other = rig.group({(topic, 0): 1})
    file = tmp_path / "offsets.csv"
    match = ["--match", f"^({group}|{other})$"] if name == "plain" else ["--", group, other]
    rig.kohort.quick("offsets export -o", str(file), "-b", rig.broker.bootstrap, *match)
    both = ["--group", group, "--group", other]
    reported = rig.reported(*both, "--from-file", str(file))
    assert reported == {
        (group, topic, 0): 7,
        (group, topic, 1): 12,
        (group, topic, 2): 0,
        (other, topic, 0): 1,
    }
    assert after(rig.ours("offsets import", str(file))) == reported

    theirs = tmp_path / "theirs.csv"
    words = ["--reset-offsets", "--export", "--dry-run", "--to-current", "--all-topics", *both]
    theirs.write_text(rig.tool(*words).stdout)
    assert after(rig.ours("offsets import", str(theirs))) == reported


def test_a_clone_copies_offsets_epochs_and_metadata(rig: OffsetRig, topic: str) -> None:
    origin, target = fresh_name("origin"), rig.group({(topic, 0): 1, (topic, 2): 0})
    places = [
        TopicPartition(topic, 0, 7, metadata="größe", leader_epoch=0),
        # Before the earliest, and copied all the same.
        TopicPartition(topic, 1, 2),
    ]
    with rig.consumer(origin) as consumer:
        consumer.commit(offsets=places, asynchronous=False)

    words = ["offsets", "clone", origin, target]
    shown = rig.ours(*words).succeeded()
    assert rig.committed(target) == {(topic, 0): 1, (topic, 2): 0}
    assert f"{target} keeps its other committed offsets: {topic}-2" in shown.stderr
    done = rig.ours(*words, "--execute", "--yes")
    assert (done.status, after(done)) == (0, after(shown))
    assert rig.committed(target) == {(topic, 0): 7, (topic, 1): 2, (topic, 2): 0}

    def facts(group: str) -> list[tuple[object, ...]]:
        (reported,) = rig.ours("describe", group).document["groups"]
        names = ("partition", "committed", "leader_epoch", "metadata")
        return [tuple(row[name] for name in names) for row in reported["offsets"] if row["partition"] < 2]

    assert facts(target) == facts(origin)
    assert facts(target)[0][1] == 7


def test_imports_and_clones_have_the_recorded_answers(rig: OffsetRig, topic: str, tmp_path: Path) -> None:
    story = Story(rig, orders=topic)
    story.group("payments", {0: 7, 1: 12})
    story.name("restored", "refunds", "target")
    single, both = tmp_path / "single.csv", tmp_path / "both.csv"
    single.write_text(exported(rig, story.names["payments"]))
    both.write_text("".join(f"{story.names[name]},{topic},0,7\n" for name in ("payments", "refunds")) + "\n")
    story.names |= {"single": str(single), "both": str(both)}
    story.tell("offsets import {single} {restored} --execute --yes")
    story.tell("offsets import {single}")
    story.tell("offsets import {both} {refunds}")
    story.tell("offsets import {both} stranger")
    story.tell("offsets clone {payments} {target} --topic {orders}:1")
    story.tell("offsets clone {payments} {payments}")
    story.tell("offsets clone no-such-group {payments}")
    story.group("other", {0: 9})
    with story.joined("payments"):
        story.tell("offsets clone {other} {payments} --execute --yes")
    story.committed("restored", "payments")
    story.is_as_recorded("offsets/copies.txt")


BAD_FILES: dict[bytes | None, str] = {
    b"topic,partition,offset\n": "contains no offsets",
    b"offset,topic,partition\n1,t,0\n": "line 1: a header of other columns; write topic,partition,offset",
    b"topic,partition,offset\n\ntopic,partition,offset\n": "line 3: 'partition' is not a valid partition",
    b"topic,partition,offset\ng,t,0,1\n": "line 2: 4 fields; expected topic,partition,offset",
    b"GROUP,TOPIC,PARTITION,CURRENT-OFFSET,LAG\ng,t,0,1,2\n": "line 1: a header of other columns",
    b"t t,0,1\n": "line 1: 't t' is not a topic's name",
    b"t,0\n": "line 1: 2 fields; expected topic,partition,offset or group,topic,partition,offset",
    b"t,0,1\ng,t,0,1\n": "line 2: 4 fields; expected topic,partition,offset",
    b"t,0,1\n\nt,x,1\n": "line 3: 'x' is not a valid partition",
    b"t,0,-1\n": "line 1: '-1' is not a valid offset",
    b"t,0,9223372036854775808\n": "line 1: '9223372036854775808' is not a valid offset",
    b"t,2147483648,0\n": "line 1: '2147483648' is not a valid partition",
    b"t,0,1\nt,0,2\n": "line 2: t-0 has the offset 1 above, here 2",
    b",0,1\n": "line 1: the topic is empty",
    b'"t,0,1\n': "line 1: unexpected end of data",
    b"t,0,1_000\n": "line 1: '1_000' is not a valid offset",
    b"": "contains no offsets",
    b"t,0,\xff\n": "not UTF-8",
    None: "No such file",
}


@pytest.mark.parametrize(("content", "said"), BAD_FILES.items(), ids=map(repr, BAD_FILES))
def test_a_bad_file_is_refused_with_its_line(
    kohort: Kohort, tmp_path: Path, content: bytes | None, said: str
) -> None:
    file = tmp_path / "offsets.csv"
    if content is not None:
        file.write_bytes(content)
    kohort.quick("offsets import", file, "g", "-b", "127.0.0.1:1").assert_refused(said, str(file), status=3)


@pytest.mark.parametrize(
    ("text", "by_group"),
    [
        ("topic,partition,offset\nt,0,1\n", {"": 1}),
        ('\ufeff"TOPIC","PARTITION","CURRENT-OFFSET"\r\n"t","0","1"\r\n', {"": 1}),
        ('GROUP, TOPIC, PARTITION, OFFSET\n\n g , t , 0 , 1 \nh, "t",0,2\n', {" g ": 1, "h": 2}),
        ("consumer_group,topic,partition,committed offset\ng,t,0,1\n", {"g": 1}),
        ("group.id,topic,partition,offset\rg,t,0,1\r", {"g": 1}),
    ],
)
def test_a_header_blanks_and_quotes_of_other_tools_are_read(text: str, by_group: dict[str, int]) -> None:
    file = read_offsets(text)
    offsets = file.by_group or {"": file.of_one_group or {}}
    assert offsets == {group: {("t", 0): offset} for group, offset in by_group.items()}


def test_any_text_is_read_or_refused() -> None:
    chance = random.Random(7)
    pieces = ["t,0,1\n", "g,t,0,1\n", *'u0,"\n\r\0ü ;', "-1", "9" * 20]
    read = 0
    for _ in range(20_000):
        text = "".join(chance.choice(pieces) for _ in range(chance.randrange(9)))
        refusal = "line "
        try:
            read_offsets(text)
            read += 1
        except MalformedOffsets as error:
            refusal = str(error)
        assert refusal.startswith("line "), text
    assert 1_000 < read < 19_000


def test_an_export_that_was_cut_anywhere_is_refused_or_reported(
    kohort: Kohort, tmp_path: Path, sample: Path
) -> None:
    file, start = tmp_path / "offsets.csv", ("offsets import", tmp_path / "offsets.csv", "--embedded", sample)
    kohort.quick("offsets export --all-groups -o", file, "--embedded", sample).succeeded()
    whole = file.read_bytes()
    assert kohort.quick(*start).stderr.count("check that it is complete") == 0
    for end in (*range(len(whole) - 40, len(whole) - 1), len(whole) - 1):
        file.write_bytes(whole[:end])
        answer = kohort.quick(*start)
        if whole[:end].endswith(b"\n"):
            assert "check that it is complete: it does not end with an empty line" in answer.stderr
        else:
            assert (answer.status, answer.stdout) == (3, ""), whole[:end]


@pytest.mark.parametrize("command", ["offsets export nightly-report", "snapshot nightly-report"])
def test_earlier_names_of_file(kohort: Kohort, tmp_path: Path, sample: Path, command: str) -> None:
    file = tmp_path / "written"
    kohort.quick(f"{command} --file {file} --embedded", sample).succeeded()
    written = file.read_text()
    assert kohort.quick(command, "--embedded", sample).stdout == written
    assert kohort.quick(f"{command} --file - --embedded", sample).stdout == written
    for option in ("-o ", "-o", "--out ", "--output="):
        file.unlink()
        answer = kohort.quick(f"{command} {option}{file} --embedded", sample).succeeded()
        assert file.read_text() == written
        assert "-o, --output and --out are earlier names of --file" in answer.stderr
    both = kohort.quick(f"{command} -o {file} --file {file} --embedded", sample)
    both.assert_refused("--file and -o name two files")
    assert "earlier" not in kohort.quick(f"{command} --help").stdout.lower()


@pytest.mark.parametrize("command", ["offsets export --all-groups --file {file}", "snapshot -o {file}"])
def test_a_file_is_replaced_when_the_new_one_is_complete(
    kohort: Kohort, tmp_path: Path, sample: Path, command: str
) -> None:
    file, link, pipe = (tmp_path / name for name in ("old.yaml", "link.yaml", "pipe"))
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file.name)
    with file.open() as old:
        kohort.quick(command.format(file=link), "--embedded", sample).succeeded()
        assert (link.is_symlink(), file.stat().st_mode & 0o777, old.read()) == (True, 0o640, "old")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    kohort.quick(command.format(file=pipe), "--embedded", sample).succeeded()
    assert (os.read(reader, 100_000).decode(), pipe.is_fifo()) == (file.read_text(), True)
    os.close(reader)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    try:
        full = kohort.quick(command.format(file=file), "--embedded", sample)
    finally:
        unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (unlimited, unlimited))
    full.assert_said(3, f"{file}: cannot be written: File too large")
    assert (file.read_text(), sorted(tmp_path.iterdir())) == (link.read_text(), [link, file, pipe])
