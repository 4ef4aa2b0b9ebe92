"""How the cost of each stage of reading and writing text grows with texts that keep parsers and patterns busy."""

import functools
import re
from collections.abc import Callable, Mapping
from unittest.mock import patch

from testing.cost_growth import FACTOR, MAX_GROWTH, measure_growth
from testing.text.pathological_text import PATHOLOGICAL_TEXTS, SIZE
from triage.agents import prompts
from triage.domain.code import SearchQuery
from triage.domain.issue import CodeBlock, Issue, ParsedIssue
from triage.find.rank.query import build_query
from triage.find.rank.snippets import COMMENT
from triage.find.text_search import clip_line
from triage.outside.output.line_logs import to_safe_line
from triage.read.issue_facts import find_facts
from triage.read.questions import find_missing_information
from triage.read.read_issue import read_issue
from triage.read.visible_text.visible_text import extract_visible_line, extract_visible_page
from triage.reproduce.example import python_code
from triage.reproduce.example.example import MAX_EXAMPLE_CHARS, Example, Project
from triage.reproduce.example.read_example import read_example
from triage.reproduce.example.sessions import read_session
from triage.reproduce.example.shown_output import read_stated_output
from triage.reproduce.expected import find_expected
from triage.run.may_run.route import parse_command
from triage.safety.active_content import find_active_content
from triage.safety.clean_text import clean_and_count
from triage.safety.safe_markdown import (
    escape_markdown,
    escape_table_cell,
    format_code_block,
    format_code_span,
)
from triage.safety.secrets.likely_secrets import redact_likely_secrets
from triage.safety.secrets.redactor import SecretRedactor
from triage.safety.secrets.web_query import restrict_query
from triage.say.hidden_state import hash_text, parse_state
from trust.measure import Measure, MeasureResult, sample_evenly

Stage = Callable[[str], object]
_REDACTOR = SecretRedactor(["ghs_k7Qm2Vx9Lr4Tz8Wd1Yb6Ns3Hf5Jg0PaXe", "sk-Zt5Rv8Nq2Mw7Lx4Kd9Jc1Hb6Gf3DsAe0Uy"])


def _issue(text: str) -> Issue:
    return Issue(number=7, title=text[:256], body=text)


def _look_up(text: str) -> None:
    for line in text.split("\n"):
        COMMENT.match(line.strip())
        clip_line(line, "a")


_PYTHON = Project(language="python", package="shop", modules=["shop"], exports={"total": "shop"})
_NODE = Project(language="node", package="shop", modules=["shop"])
_EXAMPLE = Example(language="python", code="import shop\n")


def _show(text: str, size: int = 0) -> ParsedIssue:
    """Returns a report that shows a text in blocks of code, each of at most this size; in four without one."""
    size = size or len(text) // 4 + 1
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    blocks = [CodeBlock(language="", text=f"import shop\n{piece}") for piece in pieces]
    return ParsedIssue(body="\n".join(f"\n{block.text}\n" for block in blocks), prose=text, code=blocks)


STAGES: dict[str, Stage] = {
    "looked up": _look_up,
    "clean": clean_and_count,
    "visible": extract_visible_page,
    "visible line": extract_visible_line,
    "read": lambda text: read_issue(_issue(text)),
    "command": parse_command,
    "state": parse_state,
    "text hash": lambda text: hash_text(text, text),
    "masked": redact_likely_secrets,
    "own secrets": _REDACTOR.redactor_for("text"),
    "fenced for a model": lambda text: prompts.fence({"issue": text}),
    "query of the web": lambda text: restrict_query(text, [text]),
    "inert": lambda text: escape_markdown(text, SIZE),
    "inert cell": lambda text: escape_table_cell(text, SIZE),
    "code span": format_code_span,
    "fenced": format_code_block,
    "live effects": lambda text: find_active_content(text, []),
    "log line": to_safe_line,
    "example of Python": lambda text: read_example(_show(text, MAX_EXAMPLE_CHARS), _PYTHON),
    "example of Node": lambda text: read_example(_show(text, MAX_EXAMPLE_CHARS), _NODE),
    "shown output": lambda text: read_stated_output(_show(text), "1.2.3"),
    "expected": lambda text: find_expected(_show(text), _EXAMPLE),
}
CODE_STAGES: dict[str, Stage] = {
    "repaired": python_code.repair,
    "names of code": python_code.find_names,
    "exports": lambda text: python_code.find_exports({"shop/__init__.py": text}.get, "shop", []),
    "session of Python": lambda text: read_session(text, "python"),
    "session of Node": lambda text: read_session(text, "node"),
}
"""Stages that work on one block of code, of the size that an example may have."""
READING_STAGES: dict[str, Callable[[ParsedIssue], object]] = {
    "missing": lambda parsed: find_missing_information(parsed, []),
    "facts": lambda parsed: find_facts(parsed, "acme/shop"),
    "example": lambda parsed: read_example(parsed, _PYTHON),
    "outcome": lambda parsed: find_expected(parsed, _EXAMPLE),
    "query of the code": lambda parsed: build_query(SearchQuery(parsed=parsed)),
}
"""Stages that work on the result of `read`."""


def run(share: float) -> MeasureResult:
    stages = [*STAGES, *CODE_STAGES, *READING_STAGES]
    cases = sample_evenly([(stage, name) for name in PATHOLOGICAL_TEXTS for stage in stages], share)
    growths = {f"{stage} on {name}": _measure(stage, name) for stage, name in cases}
    worst = max(growths, key=lambda case: growths[case])
    return MeasureResult(len(cases), _list_failures(growths), f"{growths[worst]:.1f} times at most ({worst})")


def _measure(stage: str, name: str) -> float:
    if stage in STAGES:
        return measure_growth(STAGES[stage], PATHOLOGICAL_TEXTS[name], SIZE)
    if stage in CODE_STAGES:
        return measure_growth(CODE_STAGES[stage], functools.partial(_build_lines, name), MAX_EXAMPLE_CHARS)
    growth = measure_growth(READING_STAGES[stage], functools.partial(_read, name), SIZE)
    # Of a text with too many marks the source is read, not what a browser shows: it grows by more than the issue does.
    small, large = (len(_read(name, size).body) for size in (SIZE // FACTOR, SIZE))
    return growth * min(1.0, FACTOR * small / max(1, large))


def _build_lines(name: str, size: int) -> str:
    # A statement that is cut is no code, which costs nothing.
    text = PATHOLOGICAL_TEXTS[name](size)
    return text[: text.rfind("\n") + 1] or text


@functools.lru_cache(maxsize=2)
def _read(name: str, size: int) -> ParsedIssue:
    return read_issue(_issue(PATHOLOGICAL_TEXTS[name](size)))


def _list_failures(growths: Mapping[str, float]) -> list[str]:
    return [f"{case}: {growth:.1f} times" for case, growth in growths.items() if growth > MAX_GROWTH]


def run_without_defence() -> MeasureResult:
    """A regular expression that starts again at every character, one that tries every combination, and a real stage.

    Returns no failure unless each is found.
    """
    growths = {
        "trailing blanks": measure_growth(re.compile(r"\s+\s+$").search, lambda size: " " * size + "x", 500),
        "nested repeats": measure_growth(re.compile(r"(?:a|a)*$").match, lambda size: "a" * size + "b", 22),
    }
    with patch.object(python_code, "_PRINT", re.compile(r"^(\s*\s*)print[ \t]+(.+)$", re.M)):
        growths["repaired"] = measure_growth(CODE_STAGES["repaired"], PATHOLOGICAL_TEXTS["line feeds"], 600)
    failures = _list_failures(growths)
    return MeasureResult(len(growths), failures if len(failures) == len(growths) else [])


MEASURE = Measure(
    "Text stages that grow too fast",
    "0",
    f"Texts of 16 and 64 KiB that keep parsers busy: a stage that takes more than {MAX_GROWTH:.0f} times as long for "
    "four times the text.",
    run,
    run_without_defence,
)
