"""What a backtest prints and the page that it writes."""

import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from tests.backtest.samples import case, outcome, place, result
from tests.backtest.test_score import DUPLICATES, RESULTS
from triage.backtest.backtest_page import render_html_page
from triage.backtest.calibration_plot import SIZE, compute_interval, make_points
from triage.backtest.past_case import RankedFile
from triage.backtest.terminal_lines import format_result, render_outcome

WHOLE = outcome(RESULTS, DUPLICATES, chosen=8, left_out={"the commit of the fix is not in this clone": 4})


def print_lines(*parts: object) -> str:
    console = Console(width=110, highlight=False, markup=False, emoji=False, record=True, force_terminal=False)
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in console.export_text().splitlines()) + "\n"


def test_the_lines_at_the_terminal(golden):
    lines = [format_result(one, number, len(RESULTS)) for number, one in enumerate(RESULTS, start=1)]
    golden("tests/golden/backtest.txt", print_lines(*lines, render_outcome(WHOLE)))


def test_the_page(golden):
    golden("tests/golden/backtest.html", render_html_page(WHOLE))


def test_a_backtest_without_github_says_what_its_figures_are_worth():
    offline = outcome([result(1)], by_issues=False)
    assert "Who writes them knows the cause" in " ".join(print_lines(render_outcome(offline)).split())
    assert "Who writes them knows the cause" in render_html_page(offline)


def test_a_shallow_clone_does_not_claim_the_whole_history():
    shown = " ".join(print_lines(render_outcome(outcome([result(1)], is_shallow=True))).split())
    assert "This clone has only a part of the history" in shown
    assert "The whole history was read" not in shown


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


hostile = st.text(max_size=60) | st.sampled_from(
    [
        "<script>alert(1)</script>",
        '" onclick="x',
        "</title><img src=x onerror=x>",
        "{{ 7*7 }}",
        "\u202egpj.exe",
        "\x1b[2J",
    ]
)


@settings(max_examples=60)
@given(hostile, hostile, hostile)
def test_no_text_of_an_issue_becomes_a_part_of_the_page(title: str, path: str, url: str):
    one = result(1, case=case(title=title, edited=[path], url=url), place=place(0.9))
    page = render_html_page(outcome([one], repository=title))
    plain = render_html_page(outcome([result(1, case=case(title="x", edited=["x"], url=""), place=place(0.9))]))
    seen, expected = Elements(), Elements()
    seen.feed(page)
    expected.feed(plain)
    links = [attributes.get("href") or "" for tag, attributes in seen.found if tag == "a"]
    assert [tag for tag, _ in seen.found if tag != "a"] == [tag for tag, _ in expected.found if tag != "a"]
    assert all(link.startswith("https://") for link in links)
    assert not any(name.startswith("on") for _, attributes in seen.found for name in attributes)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b]", page)
    assert "\x1b" not in print_lines(format_result(one, 1, 1))


def test_a_path_with_a_newline_makes_no_line_of_its_own():
    files = [RankedFile(path="a.py\n 2/2 ✓ #999 forged", edited=True)]
    assert print_lines(format_result(result(1, files=files), 1, 1)).count("\n") == 1


def test_the_page_needs_nothing_from_elsewhere():
    page = Elements()
    page.feed(render_html_page(WHOLE))
    assert not {tag for tag, _ in page.found} & {"script", "link", "img", "iframe", "form"}


def test_points_lie_inside_of_the_plot():
    for point in make_points(WHOLE.score.bands):
        assert 0 <= point.x <= SIZE
        assert 0 <= point.top <= point.y <= point.bottom <= SIZE
        assert point.radius > 0


def test_the_interval_is_wilsons():
    low, high = compute_interval(8, 10)
    assert (round(low, 3), round(high, 3)) == (0.541, 0.931)
    assert compute_interval(0, 5)[0] == 0.0
    assert compute_interval(5, 5)[1] == 1.0
