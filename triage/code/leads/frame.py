"""Frame: the innermost call that lies in this repository, of a stack trace or of a run of the report's example."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from triage.code.leads.lead import Lead
from triage.code.rank.mentions import resolve_line, resolve_path
from triage.code.rank.query import Reference
from triage.code.rank.query_scores import QueryScores
from triage.code.words.corpus import Corpus
from triage.domain.issue import Frame, ParsedIssue

_MAX_FILES = 2
"""A frame that may lie in more files leads nowhere."""
_MIN_LINE_CHARS = 10
"""A shorter line of code may stand in an issue by chance."""
_MAX_MOVED_LINES = 60
"""How far a line of a trace is looked for: the reporter's version may be another."""
_ARROW = re.compile(r"-*>\s*\d+\s+")
"""Before the line that IPython marks."""


def find_frame_leads(query_scores: QueryScores, parsed: ParsedIssue) -> Iterator[Lead]:
    """Yield the innermost frame of this repository, in both files if it may lie in two.

    A frame in a test counts if no other is here and the report's title has the test's name.
    """
    corpus, title = query_scores.corpus, query_scores.query.title_words
    frames = sorted((one for one in query_scores.query.references if one.depth), key=lambda one: -one.depth)
    resolved = {path: resolve_path(corpus, path) for path in {frame.path for frame in frames}}
    product, tests = list[tuple[Reference, list[int]]](), list[tuple[Reference, list[int]]]()
    for frame in frames:
        files = [file for file in resolved[frame.path] if _may_be_ours(corpus, file, frame)]
        here = [file for file in files if corpus.files[file].role.is_product_code]
        if 0 < len(here) <= _MAX_FILES:
            product.append((frame, here))
        elif len(files) == 1 and corpus.files[files[0]].stem in {word.lower() for word in title}:
            tests.append((frame, files))
    for frame, files in (product or tests)[:1]:
        for file in files:
            further_out = ((outer, others[0]) for outer, others in product[1:] if file not in others and outer.line)
            caller = next(further_out, None)
            lead = _make_lead(query_scores, parsed, frame, file)
            yield replace(lead, caller=_make_lead(query_scores, parsed, *caller)) if caller else lead


def _may_be_ours(corpus: Corpus, file: int, frame: Reference) -> bool:
    """Return whether a frame may lie in a file: a user has a `main.py` too, but not with our function."""
    if corpus.files[file].compressed_text is None:
        return False
    is_bare = not re.search(r"[/\\]", frame.path)
    return not is_bare or bool(frame.function and corpus.find_definitions(file, frame.function))


def _make_lead(query_scores: QueryScores, parsed: ParsedIssue, frame: Reference, file: int) -> Lead:
    own = (trace for trace in parsed.traces if any(_is_same(frame, one) for one in trace.frames))
    trace = next(own, parsed.traces[0])
    line = resolve_line(query_scores.corpus, file, frame)
    lines = query_scores.file_lines(file)
    shown = _find_shown_line(lines, line, _read_frame_code(parsed.body, frame)) if line else None
    return Lead(
        rule="frame",
        file=file,
        line=shown,
        text=": ".join(part for part in (trace.exception, trace.message) if part),
        calls_before_error=frame.calls_before_error,
    )


def _is_same(reference: Reference, frame: Frame) -> bool:
    return reference.line == frame.line and reference.path.endswith(frame.path)


def _read_frame_code(body: str, frame: Reference) -> str:
    """Return the line of code that the trace shows for a frame; empty if it shows none."""
    name = re.split(r"[/\\]", frame.path)[-1]
    own = re.compile(rf"{re.escape(name)}\W.{{0,40}}\b{frame.line}\b" if frame.line else r"(?!)")
    lines = body.splitlines()
    for number, text in enumerate(lines):
        if own.search(text):
            after = [line.strip() for line in lines[number + 1 : number + 12] if line.strip()]
            marked = next((match for line in after if (match := _ARROW.match(line))), None)
            return marked.string[marked.end() :] if marked else next(iter(after), "")
    return ""


def _find_shown_line(lines: Sequence[str], line: int, code: str) -> int:
    """Return the nearest line with the code of the frame; the given one without it."""
    first, last = max(1, line - _MAX_MOVED_LINES), min(len(lines), line + _MAX_MOVED_LINES)
    if len(code) >= _MIN_LINE_CHARS:
        for number in sorted(range(first, last + 1), key=lambda one: abs(one - line)):
            if lines[number - 1].strip() == code:
                return number
    return max(1, min(line, len(lines)))


def find_executed_lead(query_scores: QueryScores) -> Iterator[Lead]:
    """Yield the line of product code that raised the example's error, if it was run and there is one."""
    executed, corpus = query_scores.executed, query_scores.corpus
    place = executed.place if executed else None
    file = corpus.file_numbers.get(place.path) if place else None
    if not executed or not place or not place.line or file is None or not corpus.files[file].role.is_product_code:
        return
    # It may have been run on another commit.
    around = corpus.find_enclosing(file, place.line)
    functions = [name for name in (place.function or "").split(".") if not name.startswith("<")]
    is_there = not functions or (around is not None and around.name.endswith(functions[-1]))
    if is_there and place.line <= len(query_scores.file_lines(file)):
        yield Lead("executed", file, place.line, executed.error)
