"""Questions to the reporter: few, and never for what the report has."""

from pathlib import Path

from testing.each_row import each_row
from tests.read import issues
from tests.read.issues import FILLED
from triage.domain.findings import MissingKind
from triage.domain.issue import Issue
from triage.read.questions import find_missing_information, speaks_of_failure
from triage.read.read_issue import read_issue

EXAMPLES = Path(__file__).parents[2] / "examples"


PICTURE = "![it](https://user-images.githubusercontent.com/1/2.png)"
VERSIONED = "---\nname: Bug\n---\n**Your version**\n"
"""A template that asks for a version, and requires nothing."""
LONG = (
    "When I add an item and then remove it, `total` is still counting it. It stays so until the page is loaded again "
    "in another window, and then it is right."
)


def asked(issue: Issue, *forms: str, project: str = "acme/shop") -> list[MissingKind]:
    return [missing.kind for missing in find_missing_information(read_issue(issue), forms, project)]


def example(name: str) -> Issue:
    title, _, body = (EXAMPLES / name).read_text().partition("\n")
    return Issue(title=title.lstrip("# "), body=body)


@each_row(
    ("issue", "kinds"),
    [
        (issues.COMPLETE, []),
        (issues.THIN, ["reproduction"]),
        (issues.VAGUE_CRASH, ["error_output"]),
        (issues.PLATFORM, []),
        (example("crash-with-traceback.md"), []),
        (Issue(title="it doesnt work", body="i installed it and it doesnt work"), ["reproduction"]),
        (Issue(title="无法启动", body="更新之后无法启动,请帮忙"), ["reproduction"]),
        (Issue(title="no funciona", body="cuando abro el programa no pasa nada, ayuda"), ["reproduction"]),
        (Issue(title="Error", body=f"See {PICTURE} and the error."), ["error_output"]),
        (Issue(title="Card looks broken", body=PICTURE), []),
        (Issue(title="Totals do not work", body=f"{PICTURE}\n\nhow can I print the total"), []),
        (Issue(title="Button doesn't work", body="Nothing happens when I try to click on it"), []),
        (Issue(title="Shop on a phone", body=f"Does shop 3.X not show the total as 2.2 did?\n\n{PICTURE}"), []),
        (Issue(title="Total has no adapter", body=f"I get the error below:\n\n`x failure 'a' is undefined`\n{PICTURE}\n```\ntotal()\n```"), []),
        (Issue(title="The total is not there any more", body=f"{LONG}\n\nSee the screenshot for the crash:\n{PICTURE}"), ["error_output"]),
        (Issue(title="shop crash", body="=== SHOP CRASH ===\n\nIt would be helpful if you could\nreport the crash with [shop](https://github.com/acme/shop/issues)."), ["error_output"]),
        (Issue(title="shop crash", body="As in https://github.com/acme/shop/issues/7 it fails."), ["reproduction"]),
    ],
)  # fmt: skip
def test_only_what_is_missing_is_asked(issue: Issue, kinds: list[MissingKind]) -> None:
    assert asked(issue) == kinds


@each_row(
    "body",
    [
        "`total([1, 2])` and `total([2])` are wrong: 4 and 3.",
        "1. Add two items\n2. Look at the total",
        "```\nfrom shop import total\ntotal([1])\n```",
        "See https://github.com/a/b/blob/1234567/x.py#L3",
        "Neither [the first](https://shop.dev/a) nor [the next](https://shop.dev/b) is there.",
        LONG,
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nKeyError: 1',
    ],
)
def test_who_can_see_the_problem_needs_no_version(body: str) -> None:
    assert asked(Issue(title="Total is wrong", body=body)) == []


def test_long_reports_of_another_language_are_asked_nothing() -> None:
    body = (
        "Wenn man die Karte der Läden aufruft und den Knopf drückt, geht das ganze Programm in den Hintergrund, "
        "statt dass man die Startansicht sieht."
    )
    assert asked(Issue(title="Problem with totals", body=body)) == []


@each_row(
    "body",
    [
        "I use version 2.0.1.",
        "Tested on the latest master.",
        "Happens on commit 1234abcd99.",
        "### Shop version\n\nnightly build",
        "Device: Nexus, SDK: 22, app version: 52",
    ],
)
def test_a_given_version_is_not_asked_for(body: str) -> None:
    assert "version" in asked(Issue(title="It is broken", body="Please help."), VERSIONED)
    assert "version" not in asked(Issue(title="It is broken", body="Please help."), VERSIONED.replace("ver", "conver"))
    assert "version" not in asked(Issue(title="It is broken", body=f"Please help.\n\n{body}"), VERSIONED)


NO_ANSWERS = "### Error call stack\n\n_No response_\n\n### Error message\n\n_No response_"


@each_row(
    ("title", "body", "kinds"),
    [
        ("Tramp mode of the shop gives an error", "error:\n\nshop: /bin/cart: No such file or directory", []),
        ("Option to centre the columns", "Allow columns in the middle of a row. What do you think?", []),
        ("Blank page", f"### Repro steps\n\nSince yesterday\n\n{NO_ANSWERS}", ["reproduction"]),
        (
            "It quits after 2 seconds",
            "### Website\n\nhttps://shop.example\n\n### Steps\n\nRun `shop`.\n\nIt stops without any error message.",
            [],
        ),
        ("Panel shows 2 active sections", f"1. Open the panel\n2. Switch to Output\n\n{PICTURE}", []),
        ("Build fails", f"{LONG} Here is the snapshot of the error: {PICTURE}", ["error_output"]),
        ("安装失败", PICTURE, ["error_output"]),
        (
            "Bug:",
            f"With `shop .` I got an error message\n\n```\n$ shop .\n```\n\n{PICTURE}\n\n{LONG}",
            ["error_output"],
        ),
        ("The shop does not build", f"{PICTURE}\n\nIt fails. {LONG}", ["error_output"]),
        ("The shop does not build", f"Hello.\n\n{PICTURE}\n\nIt fails. {LONG}", []),
        ("Wrong colour in the dark", f"{PICTURE}\n\nThere is no error in the console. {LONG}", []),
        ("The cart is gone", f"\\`\\`\\`\n{PICTURE}\n\\`\\`\\`\nIt fails with an error", ["error_output"]),
        ("Bug:", f"I got an error message\n\nin the shop:\n\n```\n$ shop .\n```\n\n{PICTURE}\n\n{LONG}", []),
        ("Problem with words", "The letters which are coloured do not appear.", ["reproduction"]),
        (
            "Toggle for unchanged regions is showing on every editor",
            "Even on those without changes. It should only be on diffs.",
            [],
        ),
        ("It is broken", "Please help, I use Python 3.11.2.", ["reproduction"]),
        ("Till", "It throws an exception. Please look into this.\n\nThanks!", ["error_output"]),
        ("Till", "It throws an exception. It would be great if you could fix it.", ["error_output"]),
        ("Workers lose what they throw", "`run()` throws an exception, but `work()` swallows it.", []),
    ],
)
def test_short_reports_are_asked_for_what_they_lack(title: str, body: str, kinds: list[MissingKind]) -> None:
    assert asked(Issue(title=title, body=body)) == kinds


def test_questions_name_the_project_and_quote_the_report() -> None:
    crash = find_missing_information(read_issue(issues.VAGUE_CRASH), [], "acme/shop")
    missing = find_missing_information(read_issue(issues.THIN), [VERSIONED], "acme/shop")
    assert [(question.question, question.reason) for question in (*crash, *missing)] == [
        (
            "Could you paste the full error message and stack trace as text?",
            "The report says “Crash”, but shows neither the message nor where it came from.",
        ),
        (
            "What did you do exactly: the command, the code or the clicks that show it?",
            "The report describes “It is slow”, but not how somebody else can see it.",
        ),
        (
            "Which version of shop is this? I could not find it in the report.",
            "It tells which code ran, and whether the problem is already fixed.",
        ),
    ]


def test_pictures_alone_are_asked_for_as_text() -> None:
    issue = Issue(title="Cannot build it", body="Some error: ![x](https://user-images.githubusercontent.com/1/2.png)")
    issue_above = Issue(
        title="The till closes", body=f"{issue.body[12:]}\n\nI pay, and it ends with the error above. {LONG}"
    )
    for one in (issue, issue_above, Issue(title="report BUG", body=PICTURE)):
        questions = [missing.question for missing in find_missing_information(read_issue(one), [])]
        assert "Could you paste the message or the output as text?" in questions
    assert asked(Issue(title="The cart's button is cut off on small screens", body=PICTURE)) == []


ELSEWHERE = "\n\n### Anything else?\n\n```\n$ pip freeze\nshop==2.1\n```\n"


@each_row(
    ("body", "form"),
    [
        (FILLED.format(steps="Add two items.", version="2.1", database="a"), issues.FORM),
        (FILLED.format(steps="## Bug report\n\nAdd two items.", version="2.1", database="## Mine\n\na"), issues.FORM),
        (
            FILLED.format(steps="1. Add two items.\n2. Look.", version="_No response_", database="_No response_"),
            issues.FORM.replace("required: true", "required: false"),
        ),
        (FILLED.format(steps="_No response_", version="_No response_", database="a") + ELSEWHERE, issues.FORM),
        (
            FILLED.format(steps="1. Add two items.\n2. Look.", version="2.1", database="a").rpartition("### ")[0],
            issues.FORM,
        ),
    ],
)
def test_a_form_that_is_answered_anywhere_is_not_asked_again(body: str, form: str) -> None:
    assert asked(Issue(title="Total is wrong", body=body), form) == []


def test_required_fields_are_asked_for_by_their_label() -> None:
    body = FILLED.format(steps="1. Add two items.", version="_No response_", database="_No response_")
    missing = find_missing_information(read_issue(Issue(title="Total is wrong", body=body)), [issues.FORM])
    assert [(question.kind, question.question) for question in missing] == [
        ("version", "Could you add “Shop version”? The project's form asks for it."),
        ("other", "Could you add “Which database?”? The project's form asks for it."),
    ]


def test_a_field_that_a_picture_fills_is_not_empty() -> None:
    form = "name: Bug\nbody:\n- type: textarea\n  attributes: {label: Steps}\n  validations: {required: true}\n- type: textarea\n  attributes: {label: Expected result}\n  validations: {required: true}\n"
    body = "### Steps\n\n1. Draw two boxes.\n\n### Expected result\n\n{}\n"
    title = "Boxes overlap"
    assert asked(Issue(title=title, body=body.format("_No response_")), form) == ["expected"]
    picture = "![download](https://user-images.githubusercontent.com/1/2-3.png)"
    assert asked(Issue(title=title, body=body.format(picture)), form) == []


def test_an_empty_template_requires_nothing_by_itself() -> None:
    body = "## Description\n\n`total([1, 2])` returns 4, `total([])` fails.\n\n**To Reproduce**\n\n## Expected behavior\n\n"
    assert asked(Issue(title="Total is off", body=body), issues.TEMPLATE) == []


STEPS_FORM = (
    "name: Bug report\nbody:\n- type: input\n  attributes: {label: Shop version}\n- type: textarea\n  attributes:\n"
    "    label: Steps to reproduce\n    value: |\n      1. Open the page of the shop\n      2. Click on this thing\n"
    "  validations: {required: true}\n"
    "- type: input\n  attributes: {label: Link of the cart}\n  validations: {required: true}\n"
)
STEPS = "Using the total and the cart together will cause very serious errors\n\n### Steps to reproduce\n\n{}\n\n### Shop version\n\n2.4.1\n\n### Link of the cart\n\nhttps://shop.example/cart/1"


@each_row(
    ("steps", "kinds"),
    [
        ("...", ["reproduction"]),
        ("see log", ["reproduction"]),
        ("1. Open the page of the shop\n2. Click on this thing", ["reproduction"]),
        ("1. Put two items into the cart\n2. Look", []),
        ("```\nCart().total()\n```", []),
    ],
)
def test_steps_that_say_nothing_are_asked_for(steps: str, kinds: list[MissingKind]) -> None:
    issue = Issue(title="Frequent use of `total` and `cart` breaks the page", body=STEPS.format(steps))
    assert asked(issue, STEPS_FORM) == kinds


def test_an_error_needs_no_steps() -> None:
    body = STEPS.format("...") + "\n\n```\nTypeError: x is not a function\n```"
    assert asked(Issue(title="Frequent use of the total breaks the page", body=body), STEPS_FORM) == []


def test_one_version_answers_for_another_one_that_is_not_known() -> None:
    form = STEPS_FORM.replace("{label: Shop version}", "{label: Shop version}\n  validations: {required: true}")
    form += "- type: input\n  attributes: {label: Browser version}\n  validations: {required: true}\n"
    body = STEPS.format("1. Open it\n2. Click on this other thing") + "\n\n### Browser version\n\nN/A"
    title = "Frequent use of `total` and `cart` breaks the page"
    assert asked(Issue(title=title, body=body), form) == []
    assert asked(Issue(title=title, body=body.replace("2.4.1", "N/A")), form) == ["version", "version"]


def test_a_project_whose_forms_ask_for_no_version_has_none() -> None:
    form = STEPS_FORM.replace("Shop version", "Shop")
    issue = Issue(title="Card looks broken", body="Please help.")
    assert asked(issue, STEPS_FORM) == ["reproduction", "other"]
    assert asked(issue, VERSIONED) == ["reproduction", "version"]
    assert asked(issues.VAGUE_CRASH, STEPS_FORM) == ["error_output"]
    assert asked(issue, form) == ["reproduction", "other"]


@each_row(
    ("title", "body", "kinds"),
    [
        ("Shop crashes at start", "It just says that the `total` of the `cart` crashes.\n\n```ts\ncart.total()\n```", ["error_output"]),
        ("Crash of the till", f"I get a huge error when I run it. {LONG}", ["error_output"]),
        ("Crash of the till", f"I get a huge error when I run it. {LONG} {LONG}", []),
        ("The till crashes", "I get this error\nno coins at till.pm line 2.", []),
        ("The till crashes", "It raises an exception: `at <coins>: none`", []),
        ("The till crashes", "```\nkassierer: failed\n```", []),
        ("The till is broken", "It throws an exception.\n\n```ts\ncart.total()\n```", []),
        ("The till crashes", "It ends without any message.", ["reproduction"]),
        ("The till crashes", "The log is at https://paste.example/1.", []),
        ("Fix the crash of the till", "It raises an error.", []),
        ("Trace of a crash", "It would be nice if I got an error with lines where it crashes.", []),
        ("Errors of the till", "Need lines in the error.", []),
        ("Errors of the till", "Wrong since I update.", ["reproduction"]),
        ("Errors of the till", "Wrong since I update. I need help.", ["reproduction"]),
        ("The total is wrong", "It shows the total of all the other tills after the last of the items was taken out", ["reproduction"]),
        ("The total is wrong", "It shows the total of all the other tills after the last of the items was taken out again", []),
    ],
)  # fmt: skip
def test_one_thing_is_asked_and_nothing_of_a_wish(title: str, body: str, kinds: list[MissingKind]) -> None:
    assert asked(Issue(title=title, body=body)) == kinds


@each_row(
    ("title", "speaks"),
    [("The cart fails", True), ("Memory leak", True), ("The cart may fail on one item", False), ("Add a cart", False)],
)
def test_a_failure_that_may_come_is_none(title, speaks):
    assert speaks_of_failure(read_issue(Issue(title=title))) == speaks
