"""What the project's form says is no word of the report."""

from pathlib import Path

from testing.checkouts.git_repositories import commit
from testing.cost_growth import assert_grows_linearly
from triage.code.codebase import GitCodebase
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue, ParsedIssue
from triage.issue.form_words import leave_out_form
from triage.issue.read_issue import read_issue

FORM = """name: "Viewer bug report"
title: "[Viewer Bug]: "
body:
- type: input
  attributes:
    label: Viewer package (automated)
    description: |
      Please do not edit this field.
- type: dropdown
  attributes:
    label: How often does this bug happen?
    options:
      - Every time
"""
BODY = """### Viewer package (automated)

shop-viewer

### How often does this bug happen?

Every time

### Steps

_No response_

The basket loses its automated discount.
"""


def read(title: str = "[Viewer Bug] discount is lost") -> ParsedIssue:
    return read_issue(Issue(title=title, body=BODY))


def test_lines_of_the_form_and_its_start_of_the_title_are_left_out():
    own = leave_out_form(read(), [FORM])
    assert own.title == "discount is lost"
    assert "shop-viewer" in own.prose
    assert "The basket loses its automated discount." in own.prose
    for words in ("Viewer package", "How often", "Every time", "No response"):
        assert words not in own.prose + own.body


def test_without_a_form_nothing_changes_and_a_title_of_the_form_alone_stays():
    assert leave_out_form(read(), []) == read()
    assert leave_out_form(read("[Viewer Bug]: "), [FORM]).title


def test_the_file_that_opens_the_form_is_not_the_likeliest(tmp_path: Path):
    opener = "export function reportIssue(viewerPackage, automated, often) {\n  // Viewer package (automated)\n"
    opener += "  // How often does this bug happen? Every time\n  return open('viewer bug', viewerPackage, automated, often)\n}\n"
    files = {"src/reportIssue.js": opener, "src/basket.js": "export function addDiscount(basket) { return basket }\n"}
    firsts = []
    for forms in ({}, {".github/ISSUE_TEMPLATE/bug.yml": FORM}):
        root = tmp_path / f"shop{len(forms)}"
        root.mkdir()
        commit(root, files | forms)
        codebase = GitCodebase(root, "acme/shop", in_chroma=False)
        codebase.index()
        firsts.append(codebase.search(SearchQuery(parsed=read()), 1)[0].path)
    assert firsts == ["src/reportIssue.js", "src/basket.js"]


def test_a_form_that_begins_with_a_word_cuts_no_words_of_a_report():
    for start, title in (("Bug", "Bugged cart"), ("Stra\u00dfe", "STRASSE fails")):
        assert leave_out_form(read(title), [FORM.replace("[Viewer Bug]: ", start)]).title == title


def test_a_long_title_of_a_form_costs_little():
    parsed = read()
    assert_grows_linearly(lambda size: f"title: a{' ' * size}b\nbody:\n", lambda form: leave_out_form(parsed, [form]))
