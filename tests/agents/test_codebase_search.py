"""What the codebase search is shown of a regression, and what of its answer counts."""

from testing import factories
from testing.each_row import each_row
from testing.fakes import FakeCodebase, FakeModel, fake_services
from triage.agents.codebase_search import answer_with_model, format_window, render_diffs
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


def test_a_narrow_window_is_shown_with_the_diffs_of_its_code():
    diff = "diff --git a/{0} b/{0}\nindex 1..2\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@ def f():\n unchanged\n-    x = 1\n+    x = 2\n"
    commit = "1" * 40
    codebase = FakeCodebase(
        FILES, commits={commit: "1111111 2026-01-02\nFix\n" + diff.format("a.py") + diff.format("README.md")}
    )
    change = PathChange(commit=commit, date="2026-01-02", subject="Fix", paths=["a.py"])
    window = RegressionWindow(worked_in="1.0", broken_in="1.1", further=[change], total=1)
    in_folder = FakeCodebase(FILES, commits={commit: "1111111 2026-01-02\nFix\n" + diff.format("lib/a.py")})
    shown = "# 1111111111\ndiff --git a/a.py b/a.py\n@@ -1 +1 @@ def f():\n-    x = 1\n+    x = 2"
    assert render_diffs(window, codebase) == shown
    assert "+    x = 2" in render_diffs(window, in_folder), "the project is a folder of the repository"
    assert render_diffs(window.model_copy(update={"total": 11}), codebase) == ""
    assert render_diffs(None, codebase) == ""


@each_row(
    ("why", "cite", "documented", "is_heard"),
    [
        ("The year comes from `text.split`, which knows no leap year.", "1:2", None, True),  # a word of the line
        ("The day is checked against the wrong year in `parse`.", "1:2", None, True),  # the definition, or the file
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
    assert result.answer.why == (why if is_heard else "")
