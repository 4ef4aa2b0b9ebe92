"""Shows steps as code that the issue shows as code."""

from collections.abc import Sequence

from triage.domain.issue import ParsedIssue

_PROMPTS = "$>#. \t"
"""Characters that stand before a command or an input, as in `$ make` and `>>> run()`."""


def quote_code_steps(steps: Sequence[str], parsed: ParsedIssue) -> list[str]:
    """Return the steps that are not blank; between backticks those that begin a line of the issue's code."""
    lines = [line.lstrip(_PROMPTS) for block in parsed.code for line in block.text.splitlines()]
    return [_quote(step.strip(), lines) for step in steps if step.strip()]


def _quote(step: str, lines: Sequence[str]) -> str:
    is_code = any(line.startswith(step) and not line[len(step) :][:1].strip() for line in lines)
    return f"`{step}`" if is_code and "`" not in step else step
