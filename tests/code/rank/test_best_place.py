"""The text of a message is found where the sources have it, with its placeholders filled in.

One place is named only if more than shared words leads to it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import measure_cost_ratio, repeat_to
from tests.code.indexes import make_corpus, make_query, make_trace
from triage.code.rank.best_place import (
    MAX_DEFINITION_LINES,
    contains_parts,
    find_best_place,
    find_literals,
    find_message_places,
    is_distinctive_text,
    split_at_placeholders,
)
from triage.code.rank.query import build_query
from triage.code.rank.query_scores import QueryScores
from triage.code.rank.ranking import rank_files
from triage.domain.code import BestPlace, SearchQuery
from triage.domain.project_config import NO_THRESHOLDS, Thresholds

SOURCES = {
    "src/bat/controller.rs": 'fn run() {\n    return Err("The output file is also an input!".into());\n}\n',
    "web/split.py": 'def split(index):\n    raise ValueError(\n        "split index %d is "\n        f"below {low}"\n    )\n',
    "web/other.py": 'def other(index):\n    raise ValueError("split index is wrong")\n',
    "res/messages.json": '{"no_route": "There is no route from {start} to {end} today"}\n',
    "app/Home.xaml.xml": "<data><value>The picture has no frame</value></data>\n",
    "tests/test_split.py": 'def test_split():\n    assert str(error) == "The output file is also an input!"\n',
    "docs/errors.md": 'It says "The output file is also an input!" then.\n',
}


def places_of(tmp_path: Path, files: Mapping[str, str], *messages: str) -> list[tuple[str, int]]:
    corpus = make_corpus(tmp_path, files)
    evidence = QueryScores(corpus, build_query(make_query(title="it fails")))
    return [(corpus.files[place.file].path, place.line) for place in find_message_places(evidence, messages)]


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("[bat error]: The output file is also an input!", ("src/bat/controller.rs", 2)),
        ("ValueError: split index 7 is below 12", ("web/split.py", 3)),
        ("There is no route from Rome to Paris today", ("res/messages.json", 1)),
        ("The picture has no frame", ("app/Home.xaml.xml", 1)),
    ],
)
def test_a_message_is_found_where_it_is_raised_and_not_in_tests_or_documentation(tmp_path, message, place):
    assert places_of(tmp_path, SOURCES, message) == [place]


@pytest.mark.parametrize(
    "message",
    ["", "an input", "split index of the book", "The output file", "No such file or directory: 'x'"],
)
def test_a_few_words_or_the_words_of_another_message_are_no_place(tmp_path, message):
    assert places_of(tmp_path, SOURCES, message) == []


def test_a_message_in_two_files_has_two_places(tmp_path):
    files = {"a/one.py": 'x = "the disk is full"\n', "a/two.py": 'y = "the disk is full"\n'}
    assert sorted(places_of(tmp_path, files, "OSError: the disk is full")) == [("a/one.py", 1), ("a/two.py", 1)]


def test_the_longest_text_of_a_message_counts(tmp_path):
    files = {"a/one.py": 'x = "the disk is full"\n', "a/two.py": 'y = "the disk is full, remove {} files"\n'}
    assert places_of(tmp_path, files, "the disk is full, remove 12 files") == [("a/two.py", 1)]


def test_a_short_part_of_a_long_message_is_no_place(tmp_path):
    message = "the disk is full while writing the seventh of all the chapters to the shelf of the library upstairs"
    assert places_of(tmp_path, {"a/one.py": 'x = "the disk is full"\n'}, message) == []


def test_literals_that_follow_each_other_are_one_and_have_the_line_of_the_first():
    source = 'a = ("first part " \n     f"second part")\nb = "third part", "fourth part"\n'
    assert list(find_literals(source)) == [(1, "first part second part"), (3, "third part"), (3, "fourth part")]


@pytest.mark.parametrize(
    ("literal", "parts"),
    [
        ("no %s in %(place)s at 5%", ["no", "in", "at 5%"]),
        ("${name} is {0!r:>10} of #{size}", ["is", "of"]),
        (r"it\'s\n gone", ["it's", "gone"]),
        ("$path is missing", ["is missing"]),
    ],
)
def test_placeholders_of_many_languages_are_left_out(literal, parts):
    assert split_at_placeholders(literal) == parts


def test_parts_count_only_in_their_order():
    assert contains_parts("no key 'x' in the table", ["no key", "in the table"])
    assert not contains_parts("in the table there is no key", ["no key", "in the table"])
    assert not contains_parts("no key " + "x" * 400 + " in the table", ["no key", "in the table"])


def test_two_short_words_tell_nothing_apart():
    assert not is_distinctive_text(["is missing"])
    assert is_distinctive_text(["unrecoverable corruption"])
    assert is_distinctive_text(["file is missing"])


@given(st.text(alphabet="\"'`\\%{}<>ab \n$#", max_size=200))
def test_any_source_is_read(source):
    for line, literal in find_literals(source):
        assert 1 <= line <= source.count("\n") + 1
        parts = split_at_placeholders(literal)
        assert not parts or contains_parts("  ".join(parts), parts)


@pytest.mark.parametrize(("hostile", "harmless"), [('"' + " " * 500 + "x", '"' + "x" * 500), ('\\"a', 'a"\n')])
def test_gaps_and_escaped_quotes_cost_no_more_than_other_text(hostile, harmless):
    """Each quote had cost the square of the blanks behind it, or 400 more characters."""
    texts = {1: repeat_to(harmless)(50_000), 4: repeat_to(hostile)(50_000)}
    assert measure_cost_ratio(lambda key: list(find_literals(texts[key])), 1) < 10


STORE = '''import json


class Store:
    def save(self, items):
        """Write the items.

        They can be read again.
        """
        with open(self.path, "w") as file:
            json.dump(items, file)

    def load(self):
        if not self.path.exists():
            raise ValueError("the store %s was never written" % self.path)
        return json.loads(self.path.read_text())
'''
OTHERS = {
    f"shop/module_{number}.py": f"def step_{number}(value):\n    return value + {number}\n" for number in range(30)
}
FILES = {"shop/store.py": STORE, "shop/basket.py": "def fill(basket):\n    return basket\n"} | OTHERS


def find(tmp_path: Path, search: SearchQuery, files: dict[str, str] | None = None) -> BestPlace | None:
    ranking = rank_files(make_corpus(tmp_path, files or FILES), build_query(search), {}, by_embedding=False)
    return find_best_place(ranking, search.parsed, Thresholds())


def trace_query(line: int, body: str = "", *library: tuple[str, int, str]) -> SearchQuery:
    trace = make_trace(("shop/basket.py", 2, "fill"), ("shop/store.py", line, "load"), *library)
    trace = trace.model_copy(update={"exception": "ValueError", "message": "it was never written"})
    return make_query(title="loading fails", body=body, traces=[trace])


def test_a_trace_leads_to_the_line_where_it_ends(tmp_path):
    place = find(tmp_path, trace_query(16))
    assert place
    assert (place.sign, place.line, place.symbol) == ("trace", 16, "Store.load")
    assert (place.span.path, place.span.start, place.span.end) == ("shop/store.py", 13, 16)
    assert place.quote == "return json.loads(self.path.read_text())"
    assert place.text == "ValueError: it was never written"


def test_a_trace_that_ends_in_a_library_leads_to_its_last_frame_here(tmp_path):
    place = find(tmp_path, trace_query(16, "", ("json/decoder.py", 337, "decode")))
    assert place
    assert (place.sign, place.line, place.symbol, place.calls_before_error) == ("trace", 16, "Store.load", 1)


def test_the_line_that_the_trace_shows_is_found_where_it_is_now(tmp_path):
    place = find(tmp_path, trace_query(15, body="    return json.loads(self.path.read_text())\nValueError"))
    assert place
    assert place.line == 16


def test_a_message_leads_to_where_it_is_raised(tmp_path):
    search = make_query(title="load fails in Store", error_messages=["ValueError: the store x.json was never written"])
    place = find(tmp_path, search)
    assert place
    assert (place.sign, place.line, place.symbol) == ("message", 15, "Store.load")
    assert place.text == "the store %s was never written"


def test_a_message_of_two_files_leads_nowhere(tmp_path):
    files = FILES | {"shop/copy.py": 'def copy():\n    raise ValueError("the store %s was never written" % 1)\n'}
    place = find(tmp_path, make_query(title="it fails", error_messages=["the store x was never written"]), files)
    assert place is None or place.sign != "message"


def test_a_name_leads_to_its_definition_behind_the_docstring(tmp_path):
    place = find(tmp_path, make_query(title="Store.save writes half a file", identifiers=["Store.save"]))
    assert place
    assert (place.sign, place.symbol) == ("name", "Store.save")
    assert (place.span.start, place.span.end) == (10, 11)
    assert place.probability >= Thresholds().name


def test_only_what_the_report_names_is_said_to_be_named(tmp_path):
    source = "class Dial:\n    def on_turned(self):\n        return 1\n\n\nclass Knob:\n    def on_turned(self):\n        return 2\n"
    files = OTHERS | {"shop/widgets.py": source}
    place = find(tmp_path, make_query(title="on_turned is never called", identifiers=["on_turned"]), files)
    assert place
    assert place.text == "on_turned"
    place = find(tmp_path, make_query(title="on_turned of Dial", identifiers=["on_turned", "Dial"]), files)
    assert place
    assert (place.text, place.symbol) == ("Dial.on_turned", "Dial.on_turned")
    unique = {"shop/widgets.py": source + "\n\ndef read_scale():\n    return 3\n"}
    place = find(tmp_path, make_query(title="on_turned and read_scale", identifiers=["on_turned"]), files | unique)
    assert place
    assert place.text == "read_scale"


def test_a_long_definition_is_cut(tmp_path):
    body = "".join(f"    total += {number}\n" for number in range(40))
    files = OTHERS | {"shop/sum.py": f"def add_everything(total):\n{body}    return total\n"}
    place = find(tmp_path, make_query(title="add_everything is wrong", identifiers=["add_everything"]), files)
    assert place
    assert place.span.end - place.span.start + 1 == MAX_DEFINITION_LINES


@pytest.mark.parametrize("title", ["it is slow", "value of a step is wrong", ""])
def test_shared_words_alone_lead_nowhere(tmp_path, title):
    assert find(tmp_path, make_query(title=title)) is None


def test_the_only_file_of_a_repository_is_no_find(tmp_path):
    search = make_query(title="the code is wrong", identifiers=["step_1"])
    assert find(tmp_path, search, {"shop/module_1.py": OTHERS["shop/module_1.py"]}) is None


def test_an_empty_file_has_no_place_whatever_an_issue_says_of_it(tmp_path):
    files = FILES | {"shop/frobnicator.py": ""}
    for line in (3, 10**30):
        search = make_query(title="shop/frobnicator.py", traces=[make_trace(("shop/frobnicator.py", line, "load"))])
        ranking = rank_files(make_corpus(tmp_path, files), build_query(search), {}, by_embedding=False)
        ranking = replace(ranking, probabilities={ranking.order[0]: 1.0})
        assert ranking.query_scores.corpus.files[ranking.order[0]].path == "shop/frobnicator.py"
        assert find_best_place(ranking, search.parsed, Thresholds()) is None


def test_the_thresholds_of_the_project_decide_how_sure_a_place_must_be(tmp_path: Path):
    search = make_query(title="Store.save loses data")
    ranking = rank_files(make_corpus(tmp_path, FILES), build_query(search), {}, by_embedding=False)
    place = find_best_place(ranking, search.parsed, NO_THRESHOLDS)
    assert place
    assert place.sign == "name"
    assert find_best_place(ranking, search.parsed, Thresholds(name=place.probability - 0.01)) == place
    assert find_best_place(ranking, search.parsed, Thresholds(name=place.probability + 0.01)) is None
    other_signs = Thresholds(trace=0.99, message=0.99, name=place.probability - 0.01)
    assert find_best_place(ranking, search.parsed, other_signs) == place
