from io import StringIO
from typing import Any

from rich.console import Console

from testing.fake_files import FakeFiles
from testing.fakes import COMMIT
from triage.domain.proposal import Patch, PatchedFile
from triage.fix.local_fix import MAX_OUTPUT_LINES, render_terminal_proposal
from triage.fix.patch.unified_diff import format_diff

FILES = FakeFiles.of_texts(**{"shop/cart.py": "total = 1\nold = '\x1b[31m\u202ehidden'\nend = 1\n"})


def render(check_output: str = "", **changes: Any) -> str:
    known: dict[str, Any] = {
        "repository": "acme/shop",
        "issue": 12,
        "issue_title": "Totals\nare \x1b[31mwrong",
        "issue_text_hash": "0" * 16,
        "base": COMMIT,
        "summary": "Count from zero",
        "root_cause": "It starts at one.",
        "modules": ["shop/"],
        "changes": [PatchedFile(path="shop/cart.py", description="zero", text="total = 0\nend = 1\n")],
        "tests": [PatchedFile(path="tests/test_cart.py", is_new_file=True, text="assert total == 0\n")],
    }
    patch = Patch(**known | changes)
    stream = StringIO()
    console = Console(file=stream, width=60, highlight=False, markup=False, emoji=False)
    page = render_terminal_proposal(patch, format_diff(patch, FILES), FILES, check_output)
    console.print(page, crop=False, soft_wrap=True)
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def test_the_whole_proposal() -> None:
    assert render() == (
        "Proposed changes for #12: Totals are wrong\n\n"
        "Count from zero\n\n"
        "Cause. It starts at one.\n\n"
        " • shop/cart.py, +1 −2: zero\n • tests/test_cart.py (new), +1 −0\n\n"
        "Not checked. No test of the project was run with this change.\n\n"
        "diff --git a/shop/cart.py b/shop/cart.py\n--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -1,3 +1,2 @@\n"
        "-total = 1\n-old = 'hidden'\n+total = 0\n end = 1\n"
        "diff --git a/tests/test_cart.py b/tests/test_cart.py\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/tests/test_cart.py\n@@ -0,0 +1 @@\n+assert total == 0\n"
    )


def test_the_end_of_what_a_failing_check_printed() -> None:
    shown = render("\n".join(f"line {number}\x1b[2J" for number in range(100)), checked="The check fails.")
    assert "Checked. The check fails.\n\nIt printed, at the end:\nline 85\n" in shown
    assert shown.count("line ") == MAX_OUTPUT_LINES
    assert "\x1b" not in shown
