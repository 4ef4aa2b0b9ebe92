"""What a further round of the codebase search is given."""

from typing import Any

from testing import factories
from testing.fakes import FakeCodebase
from triage.agents.codebase_search import (
    MAX_LOOKED_UP_CHARS,
    build_followup_sections,
    format_looked_up,
    format_window,
    render_diffs,
)
from triage.domain.agent_input import AgentInput
from triage.domain.code import LookedUp, PathChange, RegressionWindow
from triage.issue.read_issue import read_issue

LONG = "def load(path):\n" + "    total = total + len(path)\n" * 78
SHORT = "def {name}(path):\n    return path.strip()\n"
WIDE = "def wide(path):\n" + f"    return {'path, ' * 40}\n" * 70
FILES = {"src/load.py": LONG, "src/wide.py": WIDE, "src/deep.py": WIDE.replace("wide", "deep")} | {
    f"src/{name}.py": SHORT.format(name=name) for name in ("clean", "store", "close")
}
NAMED = "definitions of what the critic names"


def build(**changes: Any) -> dict[str, str]:
    issue = factories.issue()
    given = {"issue": issue, "parsed": read_issue(issue), "repository": factories.repository()}
    return build_followup_sections(AgentInput(**given | changes), FakeCodebase(FILES))


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


def test_a_long_definition_leaves_room_for_the_others_that_the_critic_names():
    named = build(search_terms=["wide", "deep", "load", "clean", "store", "close"])[NAMED]
    assert named.count("further lines left out") == 3
    for name in ("wide", "deep", "load", "clean", "store", "close"):
        assert f"def {name}(path):" in named


def test_a_definition_that_stands_with_the_suspects_is_not_shown_again():
    suspect = factories.relevant("src/clean.py", start_line=1, end_line=2, symbol="clean", quote=None)
    known = build(codebase=factories.codebase(relevant_files=[suspect]), search_terms=["clean", "store"])
    assert "return path.strip()" in known["code of the earlier suspects"]
    assert "clean" not in known[NAMED]
    assert "def store" in known[NAMED]


def test_only_the_longest_answers_of_earlier_look_ups_are_cut_and_after_a_line():
    long = "\n".join(f"{number}| value = read(number)" for number in range(1, 600))
    shown = format_looked_up([LookedUp(call="read_lines(1)", answer=long), LookedUp(call="grep(2)", answer="2| one")])
    assert shown.endswith("# grep(2)\n2| one")
    assert len(shown) <= MAX_LOOKED_UP_CHARS + 100
    first = shown.partition("\n\n")[0].splitlines()
    assert all(line in long for line in first[1:-1])
    assert "further lines left out" in first[-1]
