"""One place is named only if more than shared words leads to it."""

from dataclasses import replace
from pathlib import Path

import pytest

from testing.each_row import each_row
from tests.code.indexes import make_corpus, make_query, make_trace
from triage.code.leads.find_leads import (
    LEAST_CHANCES,
    MAX_SHOWN_LINES,
    REPORTED_CHANCE,
    SURE,
    choose_likely_files,
    find_place,
    put_reported_first,
)
from triage.code.leads.frame import find_frame_leads
from triage.code.leads.reported_place import find_name_lead, find_reported_places
from triage.code.rank.query import build_query
from triage.code.rank.query_scores import QueryScores
from triage.code.rank.ranking import Ranking, rank_files
from triage.code.rank.reasons import explain_rank
from triage.domain.code import BestPlace, ExecutedCode, SearchQuery, Span
from triage.domain.issue import Frame, Issue, ParsedIssue
from triage.issue.read_issue import read_issue


def choose(ranking: Ranking, parsed: ParsedIssue) -> BestPlace | None:
    return find_place(put_reported_first(ranking, parsed, "acme/shop"), parsed, "acme/shop")


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
    return choose(ranking, search.parsed)


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
    assert place.caller
    assert (place.caller.span, place.caller.symbol) == (Span(path="shop/basket.py", start=2, end=2), "fill")


def test_a_failing_example_leads_to_the_line_that_raised(tmp_path):
    search = make_query(title="loading the store fails", prose="The `Store` of a basket cannot be loaded, load fails.")
    place = Frame(path="shop/store.py", line=15, function="Store.load")
    executed = ExecutedCode(
        functions=[Frame(path="shop/basket.py", line=1)],
        place=place,
        error="ValueError: never",
    )
    corpus, query = make_corpus(tmp_path, FILES), build_query(search)
    before = rank_files(corpus, query, {}, by_embedding=False)
    ranking = rank_files(corpus, query, {}, by_embedding=False, executed=executed)
    store = corpus.file_numbers["shop/store.py"]
    basket = corpus.file_numbers["shop/basket.py"]
    assert ranking.probabilities[basket] > before.probabilities[basket]
    found = choose(ranking, search.parsed)
    assert found
    assert (found.is_of_run, found.line, found.symbol, found.text) == (True, 15, "Store.load", "ValueError: never")
    assert explain_rank(ranking, store, [])[0] == "the example fails here (line 15)"
    assert "the example calls `fill`" in explain_rank(ranking, basket, [])


def test_an_example_that_was_run_on_another_commit_leads_only_to_the_same_function(tmp_path):
    search = make_query(title="loading the store fails", prose="The `Store` of a basket cannot be loaded, load fails.")
    corpus, query = make_corpus(tmp_path, FILES), build_query(search)
    same = [(15, "load"), (15, "Store.load.<locals>.<lambda>"), (15, "<listcomp>")]
    for line, function in [*same, (15, "save"), (10**6, "<module>")]:
        place = Frame(path="shop/store.py", line=line, function=function)
        executed = ExecutedCode(functions=[Frame(path="shop/basket.py")], place=place)
        ranking = rank_files(corpus, query, {}, by_embedding=False, executed=executed)
        found = choose(ranking, search.parsed)
        assert (found is not None and found.is_of_run) is ((line, function) in same), function
        assert "the example executes it" in explain_rank(ranking, corpus.file_numbers["shop/basket.py"], [])


def test_what_ran_elsewhere_leads_nowhere(tmp_path):
    search = make_query(title="loading the store fails", prose="The `Store` cannot be loaded.")
    places = [Frame(path="/etc/passwd", line=1), Frame(path="shop/none.py", line=10**9)]
    corpus, query = make_corpus(tmp_path, FILES), build_query(search)
    executed = ExecutedCode(functions=places, place=places[1])
    before = rank_files(corpus, query, {}, by_embedding=False)
    assert rank_files(corpus, query, {}, by_embedding=False, executed=executed).order == before.order


def test_a_trace_that_ends_in_a_library_leads_to_its_last_frame_here(tmp_path):
    place = find(tmp_path, trace_query(16, "", ("json/decoder.py", 337, "decode")))
    assert place
    assert (place.sign, place.line, place.symbol, place.calls_before_error) == ("trace", 16, "Store.load", 1)


def test_the_line_that_the_trace_shows_is_found_where_it_is_now(tmp_path):
    shown = 'File "/x/shop/store.py", line 15, in load\n    return json.loads(self.path.read_text())\nValueError'
    place = find(tmp_path, trace_query(15, body=shown))
    assert place
    assert place.line == 16


def test_a_message_leads_to_where_it_is_raised(tmp_path):
    search = make_query(title="load fails in Store", error_messages=["ValueError: the store x.json was never written"])
    place = find(tmp_path, search)
    assert place
    assert (place.sign, place.line, place.symbol) == ("message", 15, "Store.load")
    assert place.text == "the store %s was never written"


def test_a_long_message_of_the_first_file_is_a_fact_however_unsure(tmp_path):
    text = "the shelf %s cannot be filled because it was never built"
    files = FILES | {"shop/shelf.py": f'def build(name):\n    raise ValueError("{text}" % name)\n'}
    search = make_query(
        title="the shelf is not built", error_messages=["the shelf 12 cannot be filled because it was never built"]
    )
    ranking = rank_files(make_corpus(tmp_path, files), build_query(search), {}, by_embedding=False)
    unsure = replace(ranking, probabilities={**ranking.probabilities, ranking.order[0]: 0.15})
    place = choose(unsure, search.parsed)
    assert place
    assert (place.sign, place.is_fact, place.is_likely_alone) == ("message", True, False)
    assert choose(replace(unsure, probabilities={ranking.order[0]: 0.05}), search.parsed) is None


def test_a_message_of_two_files_leads_nowhere(tmp_path):
    files = FILES | {"shop/copy.py": 'def copy():\n    raise ValueError("the store %s was never written" % 1)\n'}
    place = find(tmp_path, make_query(title="it fails", error_messages=["the store x was never written"]), files)
    assert place is None or place.sign != "message"


def test_a_name_leads_to_its_definition_behind_the_docstring(tmp_path):
    place = find(tmp_path, make_query(title="Store.save writes half a file", identifiers=["Store.save"]))
    assert place
    assert (place.sign, place.symbol) == ("name", "Store.save")
    assert (place.span.start, place.span.end) == (10, 11)
    assert place.probability >= LEAST_CHANCES["name"]


@each_row(("title", "is_named"), [("`shop/basket.py` loses items", True), ("The basket loses items", False)])
def test_a_word_of_the_title_names_no_file(tmp_path, title: str, is_named: bool):
    query_scores = QueryScores(
        make_corpus(tmp_path, FILES), build_query(make_query(title=title, paths=["shop/basket.py"] if is_named else []))
    )
    files = [file for file in range(len(FILES)) if find_name_lead(query_scores, file)]
    assert bool(files) == is_named


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
    body = "".join(f"    total += {'discount' if number == 30 else number}\n" for number in range(40))
    files = OTHERS | {"shop/sum.py": f"def add_everything(total):\n{body}    return total\n"}
    asked = make_query(title="add_everything forgets discount", identifiers=["add_everything"])
    place = find(tmp_path, asked, files)
    assert place
    assert place.span.end - place.span.start < MAX_SHOWN_LINES
    assert place.span.start <= 32 <= place.span.end, "the line with the word of the report"


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
        assert choose(ranking, search.parsed) is None


def read(title: str, body: str) -> SearchQuery:
    return SearchQuery(parsed=read_issue(Issue(title=title, body=body)))


def test_the_line_of_the_innermost_frame_is_looked_for_not_that_of_another_one(tmp_path):
    source = "def outer(value):\n    return inner(value)\n\n\ndef copy(value):\n    return inner(value)\n\n\n"
    source += "def inner(value):\n    checked = value + 1\n    return 1 / checked\n"
    trace = "Traceback (most recent call last):\n"
    trace += '  File "/x/shop/maths.py", line 2, in outer\n    return inner(value)\n'
    trace += (
        '  File "/x/shop/maths.py", line 7, in inner\n    return 1 / checked\nZeroDivisionError: division by zero\n'
    )
    place = find(tmp_path, read("inner fails", f"```\n{trace}```\n"), OTHERS | {"shop/maths.py": source})
    assert place
    assert (place.sign, place.line, place.symbol) == ("trace", 11, "inner")


def test_where_the_reporter_points_is_first_whatever_the_words_say(tmp_path):
    asked = read("step_1 step_2 step_3 are slow", "I think shop/basket.py:2 is to blame, see step_1.")
    ranking = rank_files(make_corpus(tmp_path, FILES), build_query(asked), {}, by_embedding=False)
    basket = ranking.query_scores.corpus.file_numbers["shop/basket.py"]
    ranking = replace(ranking, order=[file for file in ranking.order if file != basket] + [basket])
    place = choose(ranking, asked.parsed)
    assert place
    assert (place.sign, place.span.path, place.line) == ("place", "shop/basket.py", 2)
    led = put_reported_first(ranking, asked.parsed, "acme/shop")
    assert led.order[0] == basket
    assert set(led.order) == {*ranking.order}
    assert led.probabilities[basket] >= max(REPORTED_CHANCE, *(led.probabilities[file] for file in led.order))
    assert sum(led.probabilities.values()) <= 1.0 + 1e-6, "they are chances of one fix"


def test_several_places_that_the_reporter_names_are_likely_together(tmp_path):
    asked = read("saving is slow", "It is shop/basket.py:2 that calls shop/store.py:10, and then shop/module_3.py:1.")
    ranking = rank_files(make_corpus(tmp_path, FILES), build_query(asked), {}, by_embedding=False)
    likely = choose_likely_files(put_reported_first(ranking, asked.parsed, "acme/shop"), None)
    assert likely
    assert set(likely.paths) == {"shop/basket.py", "shop/store.py", "shop/module_3.py"}
    assert likely.probability <= SURE


@each_row(
    ("probabilities", "count", "together"),
    [
        ([0.95, 0.04], 1, 0.95),
        ([0.6, 0.35, 0.05], 2, 0.95),
        ([0.4, 0.2, 0.1, 0.1], 3, 0.7),
        ([0.7, 0.03, 0.03], 1, 0.7),
        ([0.3, 0.1, 0.1], 0, 0),
    ],
)
def test_so_many_files_are_named_that_they_are_sure_together_but_three_at_most(
    tmp_path, probabilities: list[float], count: int, together: float
):
    asked = make_query(title="Store.save writes half a file", identifiers=["Store.save"])
    ranking = rank_files(make_corpus(tmp_path, FILES), build_query(asked), {}, by_embedding=False)
    others = [file for file in range(9) if file != ranking.order[0]]
    files = [ranking.order[0], *others][: len(probabilities)]
    likely = choose_likely_files(
        replace(ranking, order=files, probabilities=dict(zip(files, probabilities, strict=True))), None
    )
    assert (len(likely.paths), likely.probability) == (count, together) if likely else count == 0


def test_the_file_of_a_lead_is_always_the_first_of_the_likely_ones(tmp_path):
    files = FILES | {"shop/texts.json": '{"gone": "the shelf is no longer here"}'}
    ranking = rank_files(make_corpus(tmp_path, files), build_query(make_query(title="x")), {}, by_embedding=False)
    corpus = ranking.query_scores.corpus
    file = corpus.file_numbers["shop/texts.json"]
    ranking = replace(ranking, order=[file, 1], probabilities={file: 0.6, 1: 0.02})
    place = BestPlace(sign="message", span=Span(path="shop/texts.json", start=1, end=1), line=1, probability=0.6)
    likely = choose_likely_files(ranking, place)
    assert likely
    assert likely.paths == ["shop/texts.json"], "of resources too, whatever words they share"


def test_few_common_words_make_no_file_likely(tmp_path):
    asked = make_query(title="very serious errors")
    files = FILES | {"shop/basket.py": "def fill(basket):\n    return 'very serious'\n"}
    ranking = rank_files(make_corpus(tmp_path, files), build_query(asked), {}, by_embedding=False)
    assert ranking.probabilities[ranking.order[0]] > 0.6, "no other file has these words"
    assert choose_likely_files(ranking, None) is None


def test_quoted_code_leads_to_its_line(tmp_path):
    body = "There is a line `json.dump(items, file)` in Store that should be `json.dump(items, file, indent=1)`."
    place = find(tmp_path, read("Store writes no indentation", body))
    assert place
    assert (place.sign, place.line) == ("quote", 11)


def test_a_quoted_line_of_two_files_leads_nowhere(tmp_path):
    files = FILES | {"shop/copy.py": STORE.replace("Store", "Copy")}
    place = find(tmp_path, read("json is wrong", "See `json.dump(items, file)`."), files)
    assert place is None or place.sign != "quote"


def test_a_test_is_the_place_if_the_report_is_about_it(tmp_path):
    files = FILES | {"tests/test_basket.py": "def test_fill():\n    assert fill([]) == [1]\n"}
    trace = 'Traceback (most recent call last):\n  File "/x/tests/test_basket.py", line 2, in test_fill\n'
    trace += "    assert fill([]) == [1]\nAssertionError\n"
    corpus = make_corpus(tmp_path, files)
    for title, rules in (("failure in test_basket", ["frame"]), ("fill fails", [])):
        asked = read(title, trace)
        leads = find_frame_leads(QueryScores(corpus, build_query(asked)), asked.parsed)
        assert [lead.rule for lead in leads] == rules


def test_a_link_into_another_repository_leads_nowhere(tmp_path):
    corpus = make_corpus(tmp_path, FILES)
    for owner, rules in (("acme/shop", ["link"]), ("mona/sandbox", [])):
        asked = read("step_1 is slow", f"See https://github.com/{owner}/blob/main/shop/basket.py#L2 please.")
        leads = find_reported_places(QueryScores(corpus, build_query(asked)), asked.parsed, "acme/shop")
        assert [lead.rule for lead in leads if lead.rule == "link"] == rules


def test_a_file_of_the_reporters_own_is_not_the_projects(tmp_path):
    files = FILES | {"shop/main.py": "def main():\n    return 1\n\n\nx = main()\n"}
    corpus = make_corpus(tmp_path, files)
    trace = (
        'Traceback (most recent call last):\n  File "main.py", line 5, in <module>\n    shop.start(1)\nValueError: x\n'
    )
    for body in (trace, "In my main.py line 5 I call it.", "It is not in shop/store.py:5, that works."):
        asked = read("it fails", body)
        query_scores = QueryScores(corpus, build_query(asked))
        reported = find_reported_places(query_scores, asked.parsed, "acme/shop")
        assert not list(find_frame_leads(query_scores, asked.parsed))
        assert not [lead for lead in reported if lead.rule == "place"]


def test_the_text_of_a_trace_is_that_of_its_own_error(tmp_path):
    body = 'Traceback (most recent call last):\n  File "/x/lib/other.py", line 1, in a\n    a()\nKeyError: unrelated\n\nand\n\n'
    body += 'Traceback (most recent call last):\n  File "/x/shop/store.py", line 16, in load\n'
    body += "    return json.loads(self.path.read_text())\nValueError: bad json\n"
    place = find(tmp_path, read("load of Store fails", body))
    assert place
    assert (place.sign, place.text) == ("trace", "ValueError: bad json")


def test_line_zero_is_no_line(tmp_path):
    place = find(tmp_path, read("Store", "It is shop/store.py:0 in Store.load."))
    assert place is None or place.line is None
