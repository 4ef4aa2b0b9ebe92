"""What a template says is not what the reporter says."""

from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue, ParsedIssue
from triage.find.codebase import Codebase
from triage.read.issue_forms import drop_template_text, find_used_forms, leave_out_form, parse_forms
from triage.read.questions import find_missing_information
from triage.read.read_issue import read_issue

TEMPLATE = (
    "---\nname: Bug\n---\n\n**What fails?**\nTell us which page of the shop fails.\n\n**How?**\n1. Open the shop\n"
)
FORM = "name: Bug\nbody:\n  - type: dropdown\n    attributes:\n      label: System\n      options:\n        - Some Linux with bash\n"


def own_words(body: str, *templates: str) -> str:
    return drop_template_text(read_issue(Issue(title="Bug", body=body)), templates).prose.strip()


@each_row(
    "line",
    [
        "A clear and concise description of what the bug is.",
        "Steps to reproduce the behavior:",
        "1. Go to '...'",
        "3. Scroll down to '....'",
        "4. See error",
        "- Version [e.g. 22]",
        "If applicable, add screenshots to help explain your problem.",
        "Paste the activity from your command line. Redact if needed.",
    ],
)
def test_hints_are_left_out(line: str) -> None:
    assert own_words(f"{line}\n\nThe total is wrong.") == "The total is wrong."


@pytest.mark.parametrize(
    "line",
    ["The error is clear and concise.", "Open the cart ...", "- Version 2.1 [e.g. 22]", "I see error 5 there"],
)
def test_what_the_reporter_wrote_stays(line: str) -> None:
    assert own_words(line) == line


@each_row(
    ("title", "rest"),
    [
        ("Bug", ""),
        ("What fails", ""),
        ("[Till]: ", ""),
        ("Crash on start", "Crash on start"),
        ("???", "???"),
    ],
)
def test_a_title_that_a_form_gives_is_empty(title: str, rest: str) -> None:
    form = "name: Bug\ndescription: Crash on start\ntitle: '[Till]: '\nbody:\n  - type: input\n    attributes:\n"
    form += "      label: What fails?\n      description: Crash on start\n"
    assert drop_template_text(read_issue(Issue(title=title, body="")), [form, "title: ''\n"]).title == rest


def test_lines_of_the_repositorys_template_are_left_out() -> None:
    body = "Tell us which page of the shop fails.\n\nThe cart.\n\n1. Open the shop\n2. Look"
    assert own_words(body, TEMPLATE).split("\n") == ["The cart.", "", "2. Look"]


def test_a_box_that_somebody_ticked_is_no_word_of_theirs() -> None:
    ticked = "- [x] I have read the rules of the shop\n\nThe cart."
    assert own_words(ticked, "- [ ] I have read the rules of the shop\n").strip() == "The cart."
    form = "body:\n  - type: checkboxes\n    attributes:\n      options:\n        - label: I have read the rules of the shop\n"
    assert leave_out_form(read_issue(Issue(title="Bug", body=ticked)), [form]).prose.strip() == "The cart."


def test_links_of_the_repositorys_template_are_left_out() -> None:
    template = "* Please read [the rules](https://shop.example/rules/of/all) first\n"
    asked = read_issue(Issue(title="Bug", body=f"{template}* See https://shop.example/mine"))
    own = drop_template_text(asked, [template])
    assert (own.prose, own.links) == ("- See https://shop.example/mine", ["https://shop.example/mine"])
    assert leave_out_form(asked, [template]).links == own.links


def test_a_label_is_plain_text() -> None:
    forms = parse_forms(["body:\n- type: input\n  attributes: {label: What is the _bug_? **Not optional**}\n"])
    assert [field.label for form in forms for field in form.fields] == ["What is the bug? Not optional"]


def test_an_answer_that_a_form_offers_stays() -> None:
    assert own_words("Some Linux with bash", FORM) == "Some Linux with bash"


def test_an_unfilled_template_is_asked_for_everything() -> None:
    body = (
        "### Describe the bug\n\nA clear and concise description of what the bug is.\n\n### Steps to reproduce\n\n"
        "1. Type this '...'\n2. View the output '....'\n3. See error\n\n### Version\n\n```\n$ shop version\n```\n"
    )
    missing = find_missing_information(read_issue(Issue(title="Bug report", body=body)), [], "acme/shop")
    assert [one.kind for one in missing] == ["reproduction"]


def test_rows_and_placeholders_of_a_template_are_no_words_of_the_reporter() -> None:
    template = "## Versions\n\n- Ruby **[version]**\n\nShop | yes | no\n---|---|---\nold (default) | |\nnew | |\n"
    assert own_words(template, template) == "## Versions"
    filled = template.replace("**[version]**", "3.2").replace("new | |", "new | x |")
    assert own_words(filled, template) == "## Versions\n\n- Ruby 3.2\n\nnew | x |"


def test_code_with_an_answer_stays() -> None:
    parsed = read_issue(Issue(title="Bug", body="```\n$ shop version\n```\n\n```\n$ shop version\n2.1\n```"))
    assert [block.text for block in drop_template_text(parsed, []).code] == ["$ shop version\n2.1"]


@pytest.mark.parametrize("piece", ["[e.g. ", "a clear and concise description ", "'..'", "$ a version\n"])
def test_the_cost_is_linear(piece: str) -> None:
    def drop(text: str) -> object:
        return drop_template_text(read_issue(Issue(title="Bug", body=text)), [text])

    assert_grows_linearly(repeat_to(piece), drop)


WISH = "name: Feature request\nbody:\n  - type: textarea\n    attributes:\n      label: What do you wish?\n"
SYSTEM = "### System\n\nLinux\n"


@each_row(
    ("body", "forms", "name"),
    [
        ("### What do you wish?\n\nTea", [FORM, WISH], "Feature request"),
        (SYSTEM, [FORM, WISH], "Bug"),
        (SYSTEM, [FORM, FORM.replace("Bug", "Question")], ""),
        ("**What fails?**\n\nThe cart", [TEMPLATE], "Bug"),
        ("### Something else\n\nTea", [FORM, WISH], ""),
        (SYSTEM, [FORM.replace("name: Bug\n", "")], ""),
        (SYSTEM, [FORM.replace("name:", "'name':").replace("body:", "'body':"), WISH], "Bug"),
        (SYSTEM, [], ""),
    ],
)
def test_the_name_of_the_form_that_was_filled_in(body: str, forms: list[str], name: str) -> None:
    used = find_used_forms(parse_forms(forms), read_issue(Issue(title="x", body=body)))
    assert (used[0].name if len(used) == 1 else "") == name


VIEWER_FORM = """name: "Viewer bug report"
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
VIEWER_REPORT = """### Viewer package (automated)

shop-viewer

### How often does this bug happen?

Every time

### Steps

_No response_

The basket loses its automated discount.
"""


def read_viewer_report(title: str = "[Viewer Bug] discount is lost") -> ParsedIssue:
    return read_issue(Issue(title=title, body=VIEWER_REPORT))


def test_lines_of_the_form_and_its_start_of_the_title_are_left_out():
    own = leave_out_form(read_viewer_report(), [VIEWER_FORM])
    assert own.title == "discount is lost"
    assert "shop-viewer" in own.prose
    assert "The basket loses its automated discount." in own.prose
    for words in ("Viewer package", "How often", "Every time", "No response"):
        assert words not in own.prose + own.body


def test_what_is_no_start_of_the_form_stays_in_a_title():
    assert leave_out_form(read_viewer_report(), []) == read_viewer_report()
    assert leave_out_form(read_viewer_report("[Viewer Bug]: "), [VIEWER_FORM]).title == ""
    bugged = read_viewer_report("Bugged cart")
    assert leave_out_form(bugged, [VIEWER_FORM.replace("[Viewer Bug]: ", "Bug")]).title == bugged.title


def test_the_file_that_opens_the_form_is_not_the_likeliest(tmp_path: Path):
    opener = "export function reportIssue(viewerPackage, automated, often) {\n  // Viewer package (automated)\n"
    opener += "  // How often does this bug happen? Every time\n  return open('viewer bug', viewerPackage, automated, often)\n}\n"
    files = {"src/reportIssue.js": opener, "src/basket.js": "export function addDiscount(basket) { return basket }\n"}
    firsts = []
    for forms in ({}, {".github/ISSUE_TEMPLATE/bug.yml": VIEWER_FORM}):
        root = tmp_path / f"shop{len(forms)}"
        root.mkdir()
        commit(root, files | forms)
        codebase = Codebase(root, "acme/shop", in_chroma=False)
        codebase.index()
        firsts.append(codebase.search(SearchQuery(parsed=read_viewer_report()), 1)[0].path)
    assert firsts == ["src/reportIssue.js", "src/basket.js"]
