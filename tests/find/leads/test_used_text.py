"""What an error names, and our code uses, leads to where it stands."""

from testing.each_row import each_row
from tests.find.indexes import make_corpus
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue
from triage.find.leads.find_leads import find_leads
from triage.find.rank.query import build_query
from triage.find.rank.ranking import rank_files
from triage.read.read_issue import read_issue

FILES = {
    "shop/cart.R": "# sum_up_() is old\ntotal <- sum_up_(cart)\n\nsmall <- sum_up_(cart[1:3])\n",
    "shop/door.ts": "import { CLOSED, open } from 'hinge';\nif (door === CLOSED) ring();\n",
    "shop/states.js": "for (const state of ['CLOSED', 'AJAR']) define(state);\n",
    "shop/till.py": "def count_coins(till):\n    return till.coin_tray\n",
    "chart/templates/shop.yaml": "spec:\n  delay: {{ .Values.probe.delay }}\n",
    "play/open.yml": "- hosts: shops\n  tasks:\n    - open_door:\n        wide: true\n",
    "play/close.yml": "- hosts: shops\n  tasks:\n    - acme.shop.open_door:\n        wide: false\n",
    "shop/report.R": "use_report <- function() {\n  read_template('daily.rmd')\n}\n",
    "shop/bell.el": "(defun shop-ring ()\n  (bell-file-create-name shop-bell))\n",
    "shop/coins.lua": "local sorted = h_sort_coins(coins)\n",
    "tests/test_till.py": "till.lost_tray\n",
} | {f"many/rack_{number}.py": f"def take_{number}(rack):\n    return rack.upper_shelf\n" for number in range(3)}


@each_row(
    ("body", "found"),
    [
        ("```\nWarning: `sum_up_()` was deprecated in shop 2.0.\n```", [("shop/cart.R", 2, 2)]),
        ("It throws SyntaxError: The module 'hinge' does not provide an export named 'CLOSED'", [("shop/door.ts", 1, 1)]),
        ("This ends in `at <.Values.probe.delay>: nil pointer evaluating interface`", [("chart/templates/shop.yaml", 2, 1)]),
        ("```\nERROR! couldn't resolve action 'open_door'.\n```", [("play/open.yml", 3, 1)]),
        ("TypeError: Cannot read properties of undefined (reading 'coin_tray')", [("shop/till.py", 2, 1)]),
        ("```\nTypeError: Cannot read properties of undefined (reading 'coin_tray')\n```\n```\nlog(till.coin_tray)\n```", []),
        ("Error: no such key 'lost_tray'", []),  # of a test
        ("Error: no such key 'upper_shelf'", []),  # in three files
        ("Error: cannot call 'count_coins'", []),  # defined here
        ("ModuleNotFoundError: No module named 'coin_tray'", []),  # not installed
        ("Please rename `coin_tray`, since it is no good name at all.", []),
        ("```\n{\"error\": \"refused\", \"coin_tray\": 1, \"user\": \"x\", \"shop\": \"y\", \"at\": \"z\"}\n```", []),
        ("I read `till.coin_tray` in a script of mine: TypeError: Cannot read properties of undefined (reading 'coin_tray')", []),
        ("Error: no such key 'tray'. Did you mean 'coin_tray'?", []),
        ("Error: Could not find template 'daily.rmd' in package 'shop'.", [("shop/report.R", 2, 1)]),
        ("Error: the report is empty, see 'daily.rmd' for more", []),
        ("let: Symbol’s function definition is void: bell-file-create-name", [("shop/bell.el", 2, 1)]),
        ("It ends in Lisp error: (void-function bell-file-create-name)", [("shop/bell.el", 2, 1)]),
        ("Error: cannot find function h_sort_coins in the map", [("shop/coins.lua", 1, 1)]),
        ("```\nmain.cpp:10: error: 'coin_tray' was not declared in this scope\n```", []),
    ],
)  # fmt: skip
def test_what_an_error_names_leads_to_the_lines_that_have_it(tmp_path_factory, body: str, found: list[object]):
    parsed = read_issue(Issue(title="It does not work", body=body))
    corpus = make_corpus(tmp_path_factory.mktemp("used"), FILES)
    scores = rank_files(corpus, build_query(SearchQuery(parsed=parsed)), {}, by_embedding=False).search
    leads = [one for one in find_leads(scores, parsed, "acme/shop") if one.rule == "used"]
    assert [(corpus.files[one.file].path, one.line, one.copies) for one in leads] == found


def test_of_many_files_that_use_a_name_the_title_names_one(tmp_path):
    parsed = read_issue(Issue(title="rack_1 fails", body="Error: no such key 'upper_shelf'"))
    corpus = make_corpus(tmp_path, FILES)
    scores = rank_files(corpus, build_query(SearchQuery(parsed=parsed)), {}, by_embedding=False).search
    leads = [one for one in find_leads(scores, parsed, "acme/shop") if one.rule == "used"]
    assert [(corpus.files[one.file].path, one.line) for one in leads] == [("many/rack_1.py", 2)]


def test_a_trace_or_a_message_of_ours_says_more(tmp_path):
    body = (
        "Traceback (most recent call last):\n  File \"shop/till.py\", line 2, in count_coins\nKeyError: no 'coin_tray'"
    )
    parsed = read_issue(Issue(title="It does not work", body=body))
    query = build_query(SearchQuery(parsed=parsed))
    scores = rank_files(make_corpus(tmp_path, FILES), query, {}, by_embedding=False).search
    assert {one.rule for one in find_leads(scores, parsed, "acme/shop")} == {"frame"}
