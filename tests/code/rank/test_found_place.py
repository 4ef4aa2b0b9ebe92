"""One place is named only if more than shared words leads to it."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.code.indexes import make_corpus, make_query, make_trace
from triage.code.rank.found_place import MAX_DEFINITION_LINES, find_place
from triage.code.rank.query import build_query
from triage.code.rank.ranking import rank_files
from triage.domain.code import FoundPlace, SearchQuery
from triage.domain.project_config import NO_THRESHOLDS, Thresholds

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


def find(tmp_path: Path, search: SearchQuery, files: dict[str, str] | None = None) -> FoundPlace | None:
    ranking = rank_files(make_corpus(tmp_path, files or FILES), build_query(search), {}, by_embedding=False)
    return find_place(ranking, search.parsed, Thresholds())


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
        assert find_place(ranking, search.parsed, Thresholds()) is None


def test_the_thresholds_of_the_project_decide_how_sure_a_place_must_be(tmp_path: Path):
    search = make_query(title="Store.save loses data")
    ranking = rank_files(make_corpus(tmp_path, FILES), build_query(search), {}, by_embedding=False)
    place = find_place(ranking, search.parsed, NO_THRESHOLDS)
    assert place
    assert place.sign == "name"
    assert find_place(ranking, search.parsed, Thresholds(name=place.probability - 0.01)) == place
    assert find_place(ranking, search.parsed, Thresholds(name=place.probability + 0.01)) is None
    other_signs = Thresholds(trace=0.99, message=0.99, name=place.probability - 0.01)
    assert find_place(ranking, search.parsed, other_signs) == place
