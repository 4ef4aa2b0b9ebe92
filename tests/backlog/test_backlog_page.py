"""The page with the table, as a maintainer reads it."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.backlog.backlog_values import make_backlog, make_report
from tests.say.sample_reports import COMMIT, EVIL, PULL_REQUEST, missing, suspect
from triage.backlog.backlog_files import LeftOut
from triage.backlog.backlog_page import render_backlog
from triage.domain.code import Place, Span
from triage.domain.report import RunReport
from triage.domain.run import Usage
from triage.safety.active_content import find_active_content

ISSUES = "https://redirect.github.com/acme/ledger/issues/"
BLOB = f"https://github.com/acme/ledger/blob/{COMMIT}"
FOUND = Place(sign="trace", rule="frame", span=Span(path="src/a.py", start=3, end=9), line=5, probability=0.91)


def render(*reports: RunReport, **fields: object) -> str:
    return render_backlog(make_backlog(**fields), reports)


def rows(page: str) -> list[str]:
    return re.findall(r"^\| \[.*$", page, re.M)


def test_a_row_has_the_place_with_a_link_and_the_questions() -> None:
    asked = [missing("version", "Which?", "w"), missing("reproduction", "How?", "h")]
    placed = make_report(7, "It *breaks* | badly", severity="HIGH", best_place=FOUND, missing_information=asked)
    first, second = rows(render(placed, make_report(8, missing_information=asked)))
    assert first == (
        f"| [7]({ISSUES}7) **high** It \\*breaks\\* \\| badly | [`src/a.py:5`]({BLOB}/src/a.py#L5)<br>"
        "the stack trace ends here |  |"
    )
    assert second == f"| [8]({ISSUES}8) It breaks |  | version, steps |"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a.py", "a.py:5"),
        ("src/very/deep/a.py", "deep/a.py:5"),
        (f"src/{'d' * 40}/a.py", "a.py:5"),
        (f"src/{'n' * 40}.py", f"…{'n' * 29}.py:5"),
    ],
)
def test_a_long_path_is_shown_short_and_linked_whole(path: str, shown: str) -> None:
    found = FOUND.model_copy(update={"span": Span(path=path, start=3, end=9)})
    (row,) = rows(render(make_report(7, best_place=found)))
    assert f"[`{shown}`]({BLOB}/{path}#L5)" in row


@pytest.mark.parametrize(("state", "shown"), [("open", "open"), ("closed", "merged")])
def test_a_pull_request_for_it_is_shown(state: str, shown: str) -> None:
    pull = PULL_REQUEST.model_copy(update={"state": state})
    (row,) = rows(render(make_report(7, similar_issues=[pull])))
    assert f"It breaks<br>pull request [401]({ISSUES}401) ({shown}) |" in row


def test_a_place_that_only_shares_words_says_so() -> None:
    (row,) = rows(render(make_report(7, suspects=[suspect("src/b.py")])))
    assert f"[`src/b.py`]({BLOB}/src/b.py)<br>shares words, unsure" in row


def test_reports_of_one_bug() -> None:
    page = render(make_report(5, "First"), make_report(9, "Second", same_as=5))
    first, second = rows(page)
    assert f"First<br>also [9]({ISSUES}9)" in first
    assert f"Second<br>probably the same as [5]({ISSUES}5)" in second
    assert "1 group of the same bug" in page


def test_a_security_report_shows_its_number_only() -> None:
    (row,) = rows(render(make_report(7, "Steal a token", security=True, best_place=FOUND)))
    assert row == f"| [7]({ISSUES}7) **may be a security report** | | |"


def test_what_is_no_bug_and_what_was_not_triaged_have_tables_of_their_own() -> None:
    page = render(
        make_report(7, "Add export", kind="feature_request"),
        left_out=[LeftOut(number=3, title="Update x", reason="A bot opened it.")],
    )
    assert (
        f"### Probably no bugs (1)\n\n| issue | kind |\n|---|---|\n| [7]({ISSUES}7) Add export | feature request |"
        in page
    )
    assert (
        f"### Not triaged (1)\n\n| issue | reason |\n|---|---|\n| [3]({ISSUES}3) Update x | A bot opened it. |" in page
    )
    assert "1 issue triaged · 0 bug reports" in page


def test_what_was_not_reached_is_not_triaged() -> None:
    page = render_backlog(make_backlog(8, 7), [make_report(8)])
    assert f"| [7]({ISSUES}7) Issue 7 | Its batch did not get to it. |" in page


def test_what_models_took_and_where_the_list_goes_on() -> None:
    usage = Usage(input_tokens=900, output_tokens=100, calls=1, usd=0.25)
    reports = make_report(7, usage=usage, engine="model"), make_report(8, usage=usage, engine="model")
    page = render(*reports, next_query="is:open created:<=2026-01-01T00:00:00Z")
    assert "Models took 2,000 tokens and 0.5000 US dollars." in page
    assert "list those of `is:open created:<=2026-01-01T00:00:00Z`" in page


@settings(max_examples=60)
@example(EVIL)
@example("@everyone see #1 and https://evil.example /close")
@example("|" * 50 + "`" * 9)
@example("\u202eabc\u200b<img src=x onerror=alert(1)>")
@given(st.text(max_size=80) | st.text(st.sampled_from("|`\\*_[]()<>@#:/!~$\n -=a1\u200b\u202e"), max_size=40))
def test_nothing_of_a_title_acts_or_breaks_the_table(title: str) -> None:
    page = render(
        make_report(7, title),
        make_report(8, title, kind="question"),
        left_out=[LeftOut(number=9, title=title, reason="r")],
    )
    assert not find_active_content(page, [ISSUES, f"{BLOB}/"])
    assert len(rows(page)) == 3
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == (4 if "[7]" in row else 3) for row in rows(page))
