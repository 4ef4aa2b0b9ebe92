"""Steps that the issue shows as code."""

import pytest

from triage.domain.issue import CodeBlock, ParsedIssue
from triage.issue.code_steps import quote_code_steps

CODE = "fig, (a, b) = plt.subplots(1, 2, subplot_kw={'projection': '3d'})\n>>> a.draw() # now\n$ make build_docs\necho `date`\n"


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (
            "fig, (a, b) = plt.subplots(1, 2, subplot_kw={'projection': '3d'})",
            "`fig, (a, b) = plt.subplots(1, 2, subplot_kw={'projection': '3d'})`",
        ),
        ("a.draw()", "`a.draw()`"),
        (" make build_docs ", "`make build_docs`"),
        ("make build", "make build"),
        ("Call a.draw() twice", "Call a.draw() twice"),
        ("echo `date`", "echo `date`"),
    ],
)
def test_a_step_that_begins_a_line_of_the_code_is_code(step: str, shown: str):
    assert quote_code_steps([step, "  "], ParsedIssue(code=[CodeBlock(language="", text=CODE)])) == [shown]
