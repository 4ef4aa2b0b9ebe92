"""The text of a message is found where the sources have it, with its placeholders filled in."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import measure_cost_ratio, repeat_to
from tests.find.indexes import make_corpus, make_query
from triage.find.leads.message import (
    find_literals,
    find_message_places,
    measure_share,
    split_at_placeholders,
)
from triage.find.past_changes import PastChanges
from triage.find.rank.query import build_query
from triage.find.rank.search import Search

SOURCES = {
    "src/bat/controller.rs": 'fn run() {\n    return Err("The output file is also an input!".into());\n}\n',
    "web/split.py": 'def split(index):\n    raise ValueError(\n        "split index %d is "\n        f"below {low}"\n    )\n',
    "web/other.py": 'def other(index):\n    raise ValueError("split index is wrong")\n',
    "res/messages.json": '{"no_route": "There is no route from {start} to {end} today"}\n',
    "web/help.py": 'def help():\n    raise ValueError("No key for {}. Is one lost? https://shop.example/key")\n',
    "app/Till.php": '<?php\nthrow new E("Class Acme\\\\Shop must have a till");\n',
    "app/till.el": '(defun till ()\n  (error "Till %S was locked by %s, with an open \\\ndrawer: %s\\nCall the shop." a b c)\n'
    '  (error "The till was not paid in full."))\n',
    "app/Home.xaml.xml": "<data><value>The picture has no frame</value></data>\n",
    "app/Till.swift": 'throw E("Drawer \\(till.name) is held open by \\(owner.name())")\nlet a = "Ask \\(owner\\) for the other key"\n',
    "tests/test_split.py": 'def test_split():\n    assert str(error) == "The output file is also an input!"\n',
    "docs/errors.md": 'It says "The output file is also an input!" then.\n',
}


def places_of(tmp_path: Path, files: Mapping[str, str], *messages: str) -> list[tuple[str, int]]:
    corpus = make_corpus(tmp_path, files)
    evidence = Search(corpus, build_query(make_query(title="it fails")), PastChanges(corpus))
    return [
        (corpus.files[place.file].path, place.line)
        for places in find_message_places(evidence, messages)
        for place in places
    ]


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("[bat error]: The output file is also an input!", ("src/bat/controller.rs", 2)),
        ("ValueError: split index 7 is below 12", ("web/split.py", 3)),
        ("There is no route from Rome to Paris today", ("res/messages.json", 1)),
        ("No key for 7. Is one lost? https://shop.example/key", ("web/help.py", 2)),
        ("The picture has no frame", ("app/Home.xaml.xml", 1)),
        ("Class Acme\\Shop must have a till", ("app/Till.php", 2)),
        ("Till 7 was locked by Ann, with an open drawer: 12 Call the shop.", ("app/till.el", 2)),
        ("Warning: The till was not paid in full", ("app/till.el", 4)),
        ("Class Acme\\\\Shop must have a till", ("app/Till.php", 2)),  # in a log of JSON
        ("Drawer 7 is held open by Ann", ("app/Till.swift", 1)),
    ],
)
def test_a_message_is_found_where_it_is_raised_and_not_in_tests_or_documentation(tmp_path, message, place):
    assert places_of(tmp_path, SOURCES, message) == [place]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "The till was not paid in fullness",
        "split index of the book",
        "The output file",
        "Ask Ann for the other key",
        "No such file or directory: 'x'",
    ],
)
def test_a_few_words_or_the_words_of_another_message_are_no_place(tmp_path, message):
    assert places_of(tmp_path, SOURCES, message) == []


def test_a_message_in_two_files_has_two_places(tmp_path):
    files = {"a/one.py": 'x = "the disk is full"\n', "a/two.py": 'y = "the disk is full"\n'}
    assert sorted(places_of(tmp_path, files, "OSError: the disk is full")) == [("a/one.py", 1), ("a/two.py", 1)]


def test_the_longest_text_of_a_message_counts(tmp_path):
    files = {"a/one.py": 'x = "the disk is full"\n', "a/two.py": 'y = "the disk is full, remove {} files"\n'}
    assert places_of(tmp_path, files, "the disk is full, remove 12 files") == [("a/two.py", 1)]


@pytest.mark.parametrize(
    "line",
    [
        'if name == "the disk is full": pass',
        'if (std.mem.eql(u8, client.name, "the disk is full")) {',
        'if (message.includes("the disk is full")) {',
        'known = "the disk is full" in text',
        'switch_on = kind in ("the disk is full", 1)',
    ],
)
def test_a_text_that_is_only_compared_is_printed_by_nobody(tmp_path, line):
    assert places_of(tmp_path, {"a/one.py": f"{line}\n"}, "OSError: the disk is full") == []


def test_a_short_part_of_a_long_message_is_no_place(tmp_path):
    message = "the disk is full while writing the seventh of all the chapters to the shelf of the library upstairs"
    assert places_of(tmp_path, {"a/one.py": 'x = "the disk is full"\n'}, message) == []


@given(st.text(alphabet="\"'`\\%{}()<>ab \n$#", max_size=200))
def test_any_source_is_read(source):
    for line, literal in find_literals(source):
        assert 1 <= line <= source.count("\n") + 1
        parts = split_at_placeholders(literal)
        assert not parts or measure_share("  ".join(parts), source, parts) > 0


@pytest.mark.parametrize(("hostile", "harmless"), [('"' + " " * 500 + "x", '"' + "x" * 500), ('\\"a', 'a"\n')])
def test_gaps_and_escaped_quotes_cost_no_more_than_other_text(hostile, harmless):
    """Each quote had cost the square of the blanks behind it, or 400 more characters."""
    texts = {1: repeat_to(harmless)(50_000), 4: repeat_to(hostile)(50_000)}
    assert measure_cost_ratio(lambda key: list(find_literals(texts[key])), 1) < 10
