"""What the codebase search is shown of a regression, and what of its answer counts."""

from testing import factories
from testing.each_row import each_row
from testing.fakes import FakeCodebase, FakeModel, fake_services
from triage.agents.codebase_search import answer_with_model, format_window
from triage.domain.code import PathChange, RegressionWindow
from triage.domain.findings import CitedPlace

FILES = factories.FILES


def test_a_window_is_told_with_the_commits_first_that_fit():
    changes = [
        PathChange(commit=f"{number}" * 40, date="2026-01-02", subject=f"Change {number}", paths=paths)
        for number, paths in ((1, ["a.py"]), (2, [f"{name}.py" for name in "bcdefg"]))
    ]
    window = RegressionWindow(worked_in="1.0", broken_in="1.1", commits=changes[:1], further=changes[1:], total=9)
    assert format_window(window) == (
        "It worked in 1.0, and not in 1.1.\n"
        "9 commits between them, those first that fit the report best:\n"
        "1111111111 Change 1 (a.py)\n"
        "2222222222 Change 2 (b.py, c.py, d.py, e.py, ...)"
    )
    assert format_window(None) == ""
    unfit = window.model_copy(update={"commits": [], "further": changes})
    assert "none fits the report well; the closest first:" in format_window(unfit)


@each_row(
    ("why", "cite", "documented", "is_heard"),
    [
        ("The year comes from `text.split`, which knows no leap year.", "1:2", None, True),  # a word of the line
        ("The day is checked against the wrong year in `parse`.", "1:2", None, True),  # the definition, or the file
        ("It takes the piece `('-')` of it as it stands, and goes wrong.", "1:2", None, True),  # code of the line
        ("Lorem ipsum dolor sit amet, consectetur adipiscing elit [1:2].", "1:2", None, False),
        ("`Store.save` takes the items, and gives nothing back.", None, "2:2", True),
        ("`Store.save` takes the items, and gives nothing back.", None, None, False),
    ],
)
async def test_an_explanation_names_something_that_it_cites(
    why: str, cite: str | None, documented: str | None, is_heard: bool
):
    cited = [[CitedPlace(cite=one, reason="")] if one else [] for one in (cite, documented)]
    answer = factories.codebase(why=why, places=cited[0], documented=cited[1], relevant_files=[])
    codebase, model = FakeCodebase(FILES), FakeModel({"CodebaseFinding": answer})
    result = await answer_with_model(factories.state(), fake_services(codebase=codebase, model=model), model)
    assert result.finding.why == (why if is_heard else "")


@each_row(("kind", "suspects"), [("bug", ["src/parse.py"]), ("question", [])])
async def test_of_a_bug_that_is_none_the_line_that_says_so_is_the_place(kind: str, suspects: list[str]):
    why = "The day is checked against the wrong year in `parse`, as it says."
    line = [CitedPlace(cite="1:2", reason="")]
    answer = factories.codebase(why=why, places=[], documented=line, relevant_files=[])
    codebase, model = FakeCodebase(FILES), FakeModel({"CodebaseFinding": answer})
    state = factories.state(investigation=factories.investigation(kind=kind))
    result = await answer_with_model(state, fake_services(codebase=codebase, model=model), model)
    assert [one.path for one in result.finding.relevant_files] == suspects
    assert result.finding.why == why
