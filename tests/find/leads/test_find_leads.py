"""Facts of a report lead to places, whatever the ranking says. Shared words lead nowhere."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from testing.each_row import each_row
from tests.find.indexes import make_corpus, make_query, make_trace
from triage.domain.code import ExecutedCode, LeadRule, Place, SearchQuery
from triage.domain.issue import Frame, Issue, ParsedIssue
from triage.find.leads.find_leads import (
    MAX_SHOWN_LINES,
    REPORTED_CHANCE,
    choose_places,
    find_leads,
    put_reported_first,
)
from triage.find.rank.query import build_query
from triage.find.rank.ranking import Ranking, rank_files
from triage.find.rank.reasons import explain_rank
from triage.read.read_issue import read_issue


def rank(folder: Path, search: SearchQuery, files: Mapping[str, str]) -> Ranking:
    return rank_files(make_corpus(folder, files), build_query(search), {}, by_embedding=False)


def list_facts(ranking: Ranking, parsed: ParsedIssue) -> list[Place]:
    leads = find_leads(ranking.search, parsed, "acme/shop")
    return choose_places(put_reported_first(ranking, leads), leads)


def choose(ranking: Ranking, parsed: ParsedIssue) -> Place | None:
    return next(iter(list_facts(ranking, parsed)), None)


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
FILES = {"shop/store.py": STORE, "shop/basket.py": "def fill(basket):\n    return basket.load()\n"} | OTHERS


def find(tmp_path: Path, search: SearchQuery, files: dict[str, str] | None = None) -> Place | None:
    return choose(rank(tmp_path, search, files or FILES), search.parsed)


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
    assert explain_rank(ranking, store)[0].text == "the example fails here (line 15)"
    assert "the example calls `fill`" in [reason.text for reason in explain_rank(ranking, basket)]


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
        reasons = explain_rank(ranking, corpus.file_numbers["shop/basket.py"])
        assert "the example executes it" in [reason.text for reason in reasons]


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
    place = find(tmp_path, read("loading fails", f"Traceback (most recent call last):\n  {shown}"))
    assert place
    assert place.line == 16


def test_a_name_leads_to_its_definition_behind_the_docstring(tmp_path):
    place = find(tmp_path, make_query(title="Store.save writes half a file", identifiers=["Store.save"]))
    assert place
    assert (place.sign, place.symbol) == ("name", "Store.save")
    assert (place.span.start, place.span.end) == (10, 11)


def test_a_long_definition_is_cut(tmp_path):
    body = "".join(f"    total += {'discount' if number == 30 else number}\n" for number in range(40))
    files = OTHERS | {"shop/sum.py": f"def add_everything(total):\n{body}    return total\n"}
    asked = make_query(title="add_everything forgets discount", identifiers=["add_everything"])
    place = find(tmp_path, asked, files)
    assert place
    assert (place.span.start, place.span.end) == (1, MAX_SHOWN_LINES)


@pytest.mark.parametrize("title", ["it is slow", "value of a step is wrong", ""])
def test_shared_words_alone_lead_nowhere(tmp_path, title):
    assert find(tmp_path, make_query(title=title)) is None


def test_an_empty_file_has_no_place_whatever_an_issue_says_of_it(tmp_path):
    files = FILES | {"shop/frobnicator.py": ""}
    for line in (3, 10**30):
        search = make_query(title="shop/frobnicator.py", traces=[make_trace(("shop/frobnicator.py", line, "load"))])
        ranking = rank_files(make_corpus(tmp_path, files), build_query(search), {}, by_embedding=False)
        ranking = replace(ranking, probabilities={ranking.order[0]: 1.0})
        assert ranking.search.corpus.files[ranking.order[0]].path == "shop/frobnicator.py"
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


def test_quoted_code_leads_to_its_line(tmp_path):
    body = "There is a line `json.dump(items, file)` in Store that should be `json.dump(items, file, indent=1)`."
    place = find(tmp_path, read("Store writes no indentation", body))
    assert place
    assert (place.sign, place.line) == ("quote", 11)


def test_a_quoted_banner_is_no_code(tmp_path):
    banner = "The shop was closed by an error, as of today: close all of the tills."
    lines = [banner, "kept = [of, the, to]  # what you see of the shop", 'raise "the till has to be one of the shop."']
    files = FILES | {"shop/banner.py": f'BANNER = """\n{lines[0]}\n"""\n{lines[1]}\n{lines[2]}\n'}
    found = [
        find(tmp_path / str(n), read("It closes", f"It is like this:\n\n{line}"), files) for n, line in enumerate(lines)
    ]
    assert [place and place.sign for place in found] == [None, "quote", "quote"]


def test_where_the_reporter_points_is_first_in_the_ranking_too(tmp_path):
    asked = read("step_1 step_2 step_3 are slow", "I think shop/basket.py:2 is to blame, see step_1.")
    ranking = rank(tmp_path, asked, FILES)
    basket = ranking.search.corpus.file_numbers["shop/basket.py"]
    ranking = replace(ranking, order=[file for file in ranking.order if file != basket] + [basket])
    leads = find_leads(ranking.search, asked.parsed, "acme/shop")
    led = put_reported_first(ranking, leads)
    assert led.order[0] == basket
    assert set(led.order) == {*ranking.order}
    assert led.probabilities[basket] >= max(REPORTED_CHANCE, *(led.probabilities[file] for file in led.order))
    assert sum(led.probabilities.values()) <= 1.0 + 1e-6, "they are chances of one fix"
    place = choose(ranking, asked.parsed)
    assert place
    assert (place.rule, place.span.path, place.line) == ("place", "shop/basket.py", 2)
    assert ranking.search.corpus.files[led.order[0]].path == "shop/basket.py"


def test_where_a_message_stands_is_no_news_for_who_links_to_it(tmp_path):
    body = "```\nLookupError: the key of this till is lost\n```\nSee https://github.com/acme/shop/blob/main/shop/key.py#L{}"
    for line, is_linked in ((1, True), (9, False)):
        asked = read("it fails", body.format(line))
        ranking = rank(tmp_path, asked, {"shop/key.py": CONFIGURED["shop/key.py"] + "\n\n\nx = 1\n\n\ny = 2\nz = 3\n"})
        place = choose(ranking, asked.parsed)
        assert place
        assert (place.rule, place.is_linked) == ("message", is_linked)


CONFIGURED = FILES | {
    "shop/key.py": 'def check(key):\n    raise LookupError("the key of this till is lost")\n',
    "crates/till-core/src/coins.rs": "pub fn set_default(coin: u8) -> u8 {\n    coin\n}\n",
    "java/com/acme/till/CoinArray.java": "package com.acme.till;\npublic class CoinArray {\n    int size;\n}\n",
    "java/org/other/CoinArray.java": "package org.other;\npublic class CoinArray {\n    int size;\n}\n",
    "shop/widgets.py": "class Dial:\n    def on_turned(self):\n        return 1\n\n\n"
    "class Knob:\n    def on_turned(self):\n        return 2\n\n\ndef read_scale():\n    return 3\n",
    "shop/copy_one.py": "def shared_name():\n    return 1\n",
    "shop/copy_two.py": "def shared_name():\n    return 1\n",
    "web/fill.js": "function fillTheBasket(basket) {\n  return basket;\n}\nfunction fill() {\n  return 1;\n}\n",
    "settings.toml": "[[language]]\nname = 'go'\n",
    ".github/workflows/ci.yml": "on: push\njobs: {}\n",
    "shop/main.py": "def main():\n    return 1\n\n\nx = main()\n",
    "tests/test_basket.py": "def test_fill():\n    assert fill([]) == [1]\n",
    "libexec/till": "#!/usr/bin/env bash\nopen_the_till() {\n  true\n}\n",
    "TODO": "close_the_till() {\n  true\n}\n",
    "scripts/install.sh": "#!/bin/sh\nset -e\nfrobnicate\n",
}
IN_TEST = 'Traceback (most recent call last):\n  File "/x/tests/test_basket.py", line 2, in test_fill\n'
IN_TEST += "    assert fill([]) == [1]\nAssertionError\n"
WITHOUT_FILES = (
    "```\nthread 'main' panicked at 'no room', library/alloc/src/vec.rs:5:1\nstack backtrace:\n"
    "   0: rust_begin_unwind\n             at /rustc/69f9/library/std/src/panicking.rs:575:5\n"
    "   1: shop::{}::fillTheBasket\n```"
)
BUNDLED = "```\nTypeError: x is undefined\n    at {} (https://acme.test/static/app.js:1:9000)\n```"
OWN = 'Traceback (most recent call last):\n  File "{}", line 5, in <module>\n    shop.start(1)\nValueError: x\n'


@each_row(
    ("title", "body", "facts"),
    [
        # Names: one file of the product declares them, and they are distinctive.
        ("it fails", "`com.acme.till.CoinArray` is not serializable", [("qualified name", "java/com/acme/till/CoinArray.java")]),
        ("it fails", "till_core::coins::set_default loses it", [("qualified name", "crates/till-core/src/coins.rs")]),
        ("read_scale fails", "", [("name", "shop/widgets.py")]),
        ("it fails", "`Dial.on_turned` fails", [("name", "shop/widgets.py")]),
        ("open_the_till fails", "", [("name", "libexec/till")]),
        ("close_the_till fails", "", []),
        ("shared_name fails", "", []),
        ("Run main", "`main` is slow, on branch `read_scale`.", []),
        ("it fails", "I call read_scale:\n```python\ndef read_scale():\n    pass\n```", []),
        ("it fails", "I ran `shop --dry-fill read_scale`.", []),
        # Where the reporter points, whatever the file is.
        ("it fails", "See https://github.com/acme/shop/blob/main/settings.toml#L2", [("place", "settings.toml")]),
        ("it fails", "See https://github.com/old/shop/blob/main/shop/basket.py#L2", [("place", "shop/basket.py")]),
        ("it fails", "See https://github.com/mona/sandbox/blob/main/shop/basket.py#L2", []),
        ("it fails", "See .github/workflows/ci.yml:2", [("place", ".github/workflows/ci.yml")]),
        ("it fails", "See `shop/basket.py`", [("path", "shop/basket.py")]),
        ("it fails", "It is shop/store.py:0", [("path", "shop/store.py")]),
        ("it fails", "It is not in shop/store.py:5", [("path", "shop/store.py")]),
        ("it fails", "My settings.toml has it.", []),
        # A reporter's own script is nobody's.
        ("it fails", OWN.format("main.py"), []),
        ("it fails", OWN.format("basket.py"), []),
        ("it fails", OWN.format("basket.py") + "\nIn basket.py I call it.", []),
        ("it fails", OWN.format("/home/me/basket.py"), []),
        # Frames elsewhere than in the product.
        ("it fails", BUNDLED.format("fillTheBasket"), [("frame", "web/fill.js")]),
        ("it fails", BUNDLED.format("fill"), []),
        ("it fails", WITHOUT_FILES.format("fill"), [("frame", "web/fill.js")]),
        ("it fails", WITHOUT_FILES.format("other"), []),
        ("it fails", IN_TEST, [("frame", "tests/test_basket.py")]),
        ("it fails", "```\n./scripts/install.sh: line 3: frobnicate: command not found\n```", [("frame", "scripts/install.sh")]),
    ],
)  # fmt: skip
def test_a_fact_leads_to_a_file(tmp_path_factory, title: str, body: str, facts: list[tuple[LeadRule, str]]):
    asked = read(title, body)
    ranking = rank(tmp_path_factory.mktemp("facts"), asked, CONFIGURED)
    assert [(fact.rule, fact.span.path) for fact in list_facts(ranking, asked.parsed)] == facts


def test_ruby_names_the_line_that_calls_a_function_of_its_own(tmp_path):
    for line, found in ((1, 1), (4, None)):
        body = f"```\n/gems/shop-1.0/lib/shop.rb:{line}:in `require': no such file to load -- GD (LoadError)\n```"
        files = {"lib/shop.rb": 'require "GD"\n\nclass Shop\n  OPEN = 1\nend\n'} | OTHERS
        place = find(tmp_path / str(line), read("it fails", body), files)
        assert (place.line if place else None) == found


def test_where_a_name_stands_once_its_function_begins(tmp_path):
    path, text = "src/till.jl", "struct Cart end\n\nprice_at(cart, n) = cart[n]\n"
    search = make_query(title="it fails", traces=[make_trace((path, 1, "price_at"))])
    place = find(tmp_path / "once", search, OTHERS | {path: text})
    assert place
    assert (place.is_here, place.line, place.symbol, place.span.start) == (True, None, "price_at", 3)
    place = find(tmp_path / "twice", search, OTHERS | {path: f"{text}price_at(1, 2)\n"})
    assert place
    assert (place.is_here, place.function) == (False, None)


def test_of_a_name_only_what_the_report_writes_is_told(tmp_path):
    for title, text, symbol in (
        ("on_turned is never called", "on_turned", "on_turned"),
        ("Dial.on_turned is never called", "Dial.on_turned", "Dial.on_turned"),
    ):
        place = find(tmp_path / text, read(title, ""), CONFIGURED)
        assert place
        assert (place.text, place.symbol) == (text, symbol)


MOVED = (
    "class Basket:\n    def __init__(self):\n        self.items = []\n\n    def total(self):\n"
    "        return sum(self.items)\n\n\nclass Box:\n    def total(self):\n        return count_all(self)\n"
)


@each_row(
    ("function", "line", "code", "expected"),
    [
        ("compute_sum_v1", 6, "return legacy(self)", (False, None, None)),
        ("compute_sum_v1", 2, "", (False, None, None)),
        ("compute_sum_v1", 90, "return count_all(self)", (True, 11, "Box.total")),
        ("total", 6, "return count_all(self)", (True, 11, "Box.total")),
        ("total", 6, "", (True, 6, "Basket.total")),
        ("total", 6, "return max(self.other_things)", (True, None, "total")),
        ("total", 11, "return countall(self)", (True, 11, "Box.total")),  # a page took the underscore
        ("total", 90, "", (True, None, "total")),
        ("total", 8, "", (True, None, "total")),  # a blank line
        ("count_all", 90, "", (False, None, None)),
        ("__init__", 90, "", (True, None, "Basket.__init__")),
        ("<module>", 3, "gone = 1", (False, None, None)),
    ],
)
def test_a_frame_is_of_its_time(
    tmp_path_factory, function: str, line: int, code: str, expected: tuple[bool, int | None, str | None]
):
    trace = f'Traceback (most recent call last):\n  File "site-packages/shop/crate.py", line {line}, in {function}\n'
    trace += f"    {code}\n" if code else ""
    asked = read("it fails", f"```\n{trace}ValueError: empty\n```")
    place = find(tmp_path_factory.mktemp("frames"), asked, OTHERS | {"shop/crate.py": MOVED})
    assert place
    assert (place.is_here, place.line, place.symbol) == expected
    # What the file names may be there all the same, and nobody says that it is not.
    assert place.function == (None if function in ("<module>", "count_all") else function)


@each_row(
    ("path", "text", "frame", "expected"),
    [
        ("src/till.jl", "struct Cart end\nprice_at(cart, n) = cart[n]\n", "price_at", (2, None)),
        ("src/Till.groovy", "class Till {\n  Integer priceAt(int n) {\n    n\n  }\n}\n", "priceAt", (3, "Till")),
        (
            "src/Till.ps1",
            "function Get-Total {\n  1\n}\nfunction Get-Price {\n  Get-Total\n  2\n}\n",
            "Get-Price",
            (6, "Get-Price"),
        ),
    ],
)
def test_a_function_without_a_grammar_is_where_its_name_stands(tmp_path_factory, path, text, frame, expected):
    line, symbol = expected
    trace = make_trace((path, line, frame)).model_copy(update={"exception": "E"})
    place = find(tmp_path_factory.mktemp("frames"), make_query(title="it fails", traces=[trace]), OTHERS | {path: text})
    assert place
    assert (place.is_here, place.line, place.symbol) == (True, line, symbol)


CALLS = (
    "class Till {\n  int sum() {\n    int all = 0;\n    for (int i = 0; i < 9; i++) {\n      all += 1;\n\n\n\n"
    "      all -= shelf.get(i);\n    }\n    return all;\n  }\n}\n"
)


@each_row(
    ("line", "calls", "expected"),
    [
        (4, "ArrayList.get", 9),  # the trace's line calls nothing of that name, one line of the function does
        (8, "ArrayList.get", 9),  # a blank line
        (7, "ArrayList.size", None),
        (4, "ArrayList.size", 4),
        (4, "Shelf.<init>", 4),
    ],
)
def test_the_line_of_a_frame_calls_the_function_of_the_next_one(tmp_path_factory, line, calls, expected):
    trace = make_trace(("Till.java", line, "acme.Till.sum"), ("java/util/ArrayList.java", 7, f"java.util.{calls}"))
    asked = make_query(title="it fails", traces=[trace.model_copy(update={"exception": "E"})])
    place = find(tmp_path_factory.mktemp("calls"), asked, OTHERS | {"Till.java": CALLS})
    assert place
    assert place.line == expected


@each_row(
    ("path", "text", "frames", "line"),
    [
        (
            "page.js",
            "function load(all) {\n  const one = draw(all[0]);\n\n\n\n\n  return all.map(draw);\n}\n",
            "load draw",
            7,
        ),
        (
            "page.js",
            "function load(all) {\n  const one = draw(all[0]);\n\n\n\n\n  return await one;\n}\n",
            "load draw",
            7,
        ),
        ("page.rb", "def load(all)\n  draw(all.first)\n\n\n\n\n  draw all\nend\n", "load draw", 7),
        ("page.js", "function load(all) {\n  // as draw(all)\n\n\n\n\n  all[0]();\n}\n", "load draw", 7),
        ("page.go", "package a\n\nfunc load(a []int) {\n\tb := a[1]\n\n\n\n\n\tpanic(b)\n}\n", "load panic", 4),
        (
            "Page.java",
            "class Page {\n  int load(int a) {\n\n\n\n\n\n    return all.get(a).run();\n  }\n}\n",
            "load load",
            8,
        ),
    ],
)
def test_a_line_that_may_call_the_next_function_stays(tmp_path_factory, path, text, frames, line):
    outer, inner = frames.split()
    trace = make_trace((path, line, outer), ("/usr/lib/other/draw", 7, inner))
    asked = make_query(title="it fails", traces=[trace.model_copy(update={"exception": "E"})])
    place = find(tmp_path_factory.mktemp("calls"), asked, OTHERS | {path: text})
    assert place
    assert place.line == line


def test_emacs_names_functions_without_their_files(tmp_path):
    source = "(defun till-open (name)\n  (expand-file-name name))\n\n(defun till-close ()\n  nil)\n"
    calls = "  expand-file-name(nil)\n  till-open(nil)\n  call-interactively(till-open)\n"
    body = f"```\nDebugger entered--Lisp error: (wrong-type-argument stringp nil)\n{calls}```"
    place = find(tmp_path, read("it fails", body), OTHERS | {"till.el": source})
    assert place
    assert (place.span.path, place.symbol, place.text) == ("till.el", "till-open", "wrong-type-argument: stringp nil")


@each_row(
    ("inner", "is_known"),
    [
        ("till(+0xc37b)[0x7f0b]", False),  # a static function, which has no name
        ("/lib/libc.so.6(+0x3efd0)[0x7f0b]", True),
    ],
)
def test_a_nameless_call_of_the_same_program_is_further_in(tmp_path_factory, inner, is_known):
    trace = f"till 2.1 aborting.\n{inner}\ntill(TillList_draw+0x27)[0x7f1b]\ntill(+0xe2c6)[0x7f2b]\n"
    files = OTHERS | {"list.c": "int TillList_draw(int a) {\n   return a;\n}\n"}
    assert (find(tmp_path_factory.mktemp("c"), read("It fails", f"```\n{trace}```"), files) is not None) is is_known


CHAIN = {
    "Api.java": "class Api {\n  int load() {\n    try {\n      int a = 1;\n      return new Store().size();\n"
    "    } catch (RuntimeException e) {\n      throw new IllegalStateException(e);\n    }\n  }\n}\n",
    "Store.java": "class Store {\n  int size() {\n    String s = null;\n    return s.length();\n  }\n}\n",
}


def test_the_innermost_cause_is_the_place_and_traces_never_mix(tmp_path):
    body = (
        "java.lang.IllegalStateException: cannot load\n\tat Api.load(Api.java:7)\n\tat Main.main(Main.java:3)\n"
        "Caused by: java.lang.NullPointerException: s is null\n\tat Store.size(Store.java:4)\n"
    )
    asked = read("it fails", f"```\n{body}```")
    (place,) = list_facts(rank(tmp_path, asked, CHAIN | OTHERS), asked.parsed)
    assert (place.span.path, place.line, place.text) == ("Store.java", 4, "java.lang.NullPointerException: s is null")


def test_where_an_error_is_made_is_not_where_it_fails(tmp_path):
    files = FILES | {"shop/errors.py": "def wrap_error(cause):\n    raise ShopError(cause)\n"}
    trace = make_trace(
        ("shop/basket.py", 2, "fill"), ("shop/store.py", 16, "load"), ("shop/errors.py", 2, "wrap_error")
    )
    place = find(tmp_path, make_query(title="loading fails", traces=[trace]), files)
    assert place
    assert (place.span.path, place.symbol, place.error_maker) == ("shop/store.py", "Store.load", "wrap_error")
    alone = make_query(title="loading fails", traces=[make_trace(("shop/errors.py", 2, "wrap_error"))])
    only = find(tmp_path / "alone", alone, files)
    assert only
    assert (only.span.path, only.error_maker) == ("shop/errors.py", "")


def test_a_missing_name_fails_where_it_is_asked_for(tmp_path):
    files = FILES | {"shop/lazy.py": "def __getattr__(name):\n    return load(name)\n\ndef load(name):\n    raise X\n"}
    trace = make_trace(("shop/store.py", 16, "load"), ("shop/lazy.py", 2, "__getattr__"), ("shop/lazy.py", 5, "load"))
    for exception, message, path in (
        ("AttributeError", "module 'shop' has no attribute 'x'", "shop/store.py"),
        ("AttributeError", "'NoneType' object has no attribute 'x'", "shop/lazy.py"),
        ("KeyError", "x", "shop/lazy.py"),
    ):
        failed = trace.model_copy(update={"exception": exception, "message": message})
        place = find(tmp_path / message[:9], make_query(title="it fails", traces=[failed]), files)
        assert place
        assert place.span.path == path


def test_of_a_message_that_a_file_has_several_times_no_place_is_said(tmp_path):
    raised = '        raise ValueError("the shelf %s was left out" % name)\n'
    files = FILES | {"shop/shelf.py": f"def a(name):\n{raised}\n\ndef b(name):\n{raised}"}
    place = find(tmp_path, make_query(title="it fails", error_messages=["the shelf 7 was left out"]), files)
    assert place
    assert (place.span.path, place.copies) == ("shop/shelf.py", 2)


MESSAGES = FILES | {
    "shop/shelf.py": '# It says "the third shelf was left out here" when it is full.\n'
    'def fill():\n    raise ValueError("No shelf specified: %s" % name)\n',
    "shop/door.py": 'def lock():\n    log.error("the door %s did not lock")\n    log.info("This is all well with %s")\n    raise ValueError("%s: template for shortcode %q not found")\n',
    "shop/window.py": 'def open():\n    raise KeyError("template %q not found")\n    raise IOError("the shelf cannot hold %s")\n',
    "web/hooks.js": "fail('Internal error: Expected static flag was missing. Please ' + 'notify us.');\n"
    "say('Put it by hand into the basket and take it home.');\n",
    "src/till.c": "void pay(void) {\n  till_assert (coins_paid <= coins_due && is_open);\n  if (notes_paid <= notes_due) end();\n}\n",
}


@each_row(
    ("title", "body", "facts"),
    [
        ("it fails", f"Error: No shelf specified: {'/a/very/long/path' * 8}", [("message", "shop/shelf.py")]),
        ("it fails", "```\nError: build failed: \"posts/x.md:7:1\": no shortcode: template for shortcode \"x\" not found\n```",
         [("log line", "shop/door.py")]),
        ("[Tools Bug]: Expected static flag was missing", "", [("log line", "web/hooks.js")]),
        ("Warning: the door 7 did not lock", "", [("message", "shop/door.py")]),
        ("Exception has occurred. the door 7 did not lock", "", [("message", "shop/door.py")]),
        ("No matching key: template for shortcode \"x\" not found", "", [("message", "shop/door.py")]),
        ("Warning: the shelf cannot hold apples when I open the settings page after an update", "", [("log line", "shop/window.py")]),
        ("Warning: at night the door 7 did not lock", "", [("log line", "shop/door.py")]),
        ("Unlocked: the door 7 did not lock", "", [("log line", "shop/door.py")]),
        ("it fails", "I get `Expected static flag was missing` each time.", [("message", "web/hooks.js")]),
        ("it fails", "```\nAssertion failed: coins_paid <= coins_due && is_open (till.c:9)\n```", [("message", "src/till.c")]),
        ("it fails", "shop: src/till.c:9: pay: Assertion `coins_paid <= coins_due && is_open' failed.", [("message", "src/till.c")]),
        ("it fails", "Assertion failed: coins_paid <= coins_due && is_open (other_till.c:9)", []),
        ("it fails", "In till.c I read `coins_paid <= coins_due && is_open`, which raises an error.", []),
        ("it fails", "Assertion failed: notes_paid <= notes_due (till.c:9)", [("path", "src/till.c")]),
        ("it fails", "`the third shelf was left out here`", []),
        ("it fails", "It says `by hand into the basket`.", [("log line", "web/hooks.js")]),
        ("A shorter text", "I would like `This is all well with 7` to be shorter.", [("log line", "shop/door.py")]),
        ("it fails", "I print it as in the example: `No shelf specified: %s`.\n```\nError: No shelf specified: 7\n```", []),
        ("it fails", "```\nWARN the door 7 did not lock\nERROR the store x was never written\nThis is all well with 7\n```",
         [("log line", "shop/door.py"), ("log line", "shop/store.py")]),
    ],
)  # fmt: skip
def test_a_message_leads_to_the_one_file_that_has_it(
    tmp_path_factory, title: str, body: str, facts: list[tuple[LeadRule, str]]
):
    asked = read(title, body)
    ranking = rank(tmp_path_factory.mktemp("messages"), asked, MESSAGES)
    assert [(fact.rule, fact.span.path) for fact in list_facts(ranking, asked.parsed)] == facts
