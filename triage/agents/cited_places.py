"""Looks up what a model cites, numbers of excerpts that it was shown and lines of them, and says what of it is said.

An explanation is said if a citation holds and no critic refuses it. Whatever else a model answers says nothing to
anybody: what rules know stays as it is.
"""

import re
from collections.abc import Iterator, Sequence, Set

from triage.domain.agent_input import AgentInput
from triage.domain.code import Excerpt, Span
from triage.domain.findings import CitedPlace, RelevantFile
from triage.domain.report import Citations, Explanation, NamedPlace

_CITE = re.compile(r"\s*\[?\s*(\d{1,4})(?!\d)(?:\s*:\s*L?(\d{1,7})(?:\s*[-\u2013]\s*L?(\d{1,7}))?)?")
"""Number of an excerpt, first line, last line."""
_ONE = r"\d{1,4}(?::[L\d\u2013 -]{1,20})?"
_MARKS = re.compile(rf"`[^`\n]*`|[ \t]?(?<![\w\])])\[({_ONE}(?:(?:[,;] ?|\] ?\[){_ONE}){{0,9}})\](?!\()")
_WRITTEN = re.compile(r"([\w@+-][\w./@+-]{0,300}\.[A-Za-z]\w{0,9}):\d{1,7}(?:-\d{1,7})?(?![\w/:])")


def find_place(cite: str, excerpts: Sequence[Excerpt]) -> RelevantFile | None:
    """Return the place of a citation such as `7:1551-1553`; without its lines if these were not shown.

    None if there is no excerpt of this number.
    """
    found = _CITE.match(cite)
    number = int(found[1]) if found else 0
    if found is None or not 1 <= number <= len(excerpts):
        return None
    span, symbol = excerpts[number - 1].span, excerpts[number - 1].symbol
    if not found[2]:
        return _make_file(span, symbol)
    start, end = sorted((int(found[2]), int(found[3] or found[2])))
    of_file = [one.span for one in excerpts if one.span.path == span.path]
    if all(any(one.start <= line <= one.end for one in of_file) for line in (start, end)):
        is_inside = span.start <= start and end <= span.end
        return _make_file(Span(path=span.path, start=start, end=end), symbol if is_inside else None)
    start, end = max(start, span.start), min(end, span.end)
    if start > end:
        return RelevantFile(path=span.path, relevance_reason="")
    return _make_file(Span(path=span.path, start=start, end=end), symbol)


def _make_file(span: Span, symbol: str | None) -> RelevantFile:
    return RelevantFile(path=span.path, relevance_reason="", start_line=span.start, end_line=span.end, symbol=symbol)


def resolve_citations(cited: Sequence[CitedPlace], excerpts: Sequence[Excerpt]) -> tuple[list[RelevantFile], Citations]:
    """Return the places in order, each once, and the count of citations that hold: number and lines were shown."""
    places: list[RelevantFile] = []
    refused: list[str] = []
    for one in cited:
        place = find_place(one.cite, excerpts)
        if place is None:
            refused.append("a citation has a number that nothing was shown under")
            continue
        if place.start_line is None:
            refused.append(f"{place.path}: the cited lines were not shown")
        if all(place.path != other.path or place.start_line not in (None, other.start_line) for other in places):
            places.append(place.model_copy(update={"relevance_reason": one.reason}))
    verified = len(cited) - len(refused)
    return places, Citations(verified=verified, total=len(cited), refused=list(dict.fromkeys(refused)))


def link_marks(text: str, excerpts: Sequence[Excerpt]) -> tuple[str, list[NamedPlace]]:
    """Return the text with a short name of its place for each mark such as `[7:12]`, and what the names stand for.

    Marks without a place go, and lines that a model writes behind a path: nothing has checked them.
    """
    places: dict[str, NamedPlace] = {}

    def replace_mark(match: re.Match[str]) -> str:
        if not match[1]:  # code in backticks
            return match[0]
        names = [name for one in re.split(r"[,;]|\] ?\[", match[1]) if (name := _add_place(one, excerpts, places))]
        return f" ({', '.join(f'`{name}`' for name in dict.fromkeys(names))})" if names else ""

    paths = {excerpt.span.path for excerpt in excerpts}

    def drop_lines(match: re.Match[str]) -> str:
        return match[1] if any(f"/{path}".endswith(f"/{match[1]}") for path in paths) else match[0]

    return _MARKS.sub(replace_mark, _WRITTEN.sub(drop_lines, text)).strip(), list(places.values())


def _add_place(cite: str, excerpts: Sequence[Excerpt], places: dict[str, NamedPlace]) -> str:
    """Return the short name of the cited place, and add it to `places`; empty if no excerpt has the number."""
    place = find_place(cite, excerpts)
    if place is None:
        return ""
    start, end = place.start_line, place.end_line
    lines = "" if start is None else f":{start}" if start == end else f":{start}-{end}"
    name = _shorten(place.path, {excerpt.span.path for excerpt in excerpts}) + lines
    span = Span(path=place.path, start=start, end=end) if start and end else None
    places.setdefault(name, NamedPlace(text=name, path=place.path, span=span))
    return name


def _shorten(path: str, paths: Set[str]) -> str:
    """Return the file's name, with as many of its folders as tell it from the others."""
    parts = path.split("/")
    ends = ("/".join(parts[-count:]) for count in range(1, len(parts)))
    return next((end for end in ends if sum(f"/{one}".endswith(f"/{end}") for one in paths) == 1), path)


MIN_CONFIDENCE = 0.3
"""Below it, the search says that nothing it saw explains the symptom: see its prompt."""
MIN_WHY_CHARS = 40
MIN_STEP_CHARS = 12
"""Of an idea for a fix, or a check: `Fix it` and `Add tests.` say nothing."""
_COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b")
_LOGGED = re.compile(r"^([0-9a-f]{10}) \d{4}-\d\d-\d\d\b", re.MULTILINE)


def has_model_evidence(agent_input: AgentInput) -> bool:
    """Return whether a model has read the code: something that it cites was shown to it, and no critic refuses it."""
    is_refused = agent_input.critique is not None and agent_input.critique.verdict == "CHALLENGED"
    return agent_input.searched_by_model and agent_input.citations.verified > 0 and not is_refused


def build_model_explanation(agent_input: AgentInput) -> Explanation | None:
    """Return what a model says of the cause, with its citations as names; None if that says nothing."""
    search = agent_input.code_finding
    if search is None or not has_model_evidence(agent_input) or search.confidence < MIN_CONFIDENCE:
        return None
    if len(search.why.strip()) < MIN_WHY_CHARS:
        return None
    texts = {name: getattr(search, name) for name in ("summary", "why", "fix_idea", "check")}
    linked = {name: link_marks(text, agent_input.excerpts) for name, text in texts.items()}
    steps = {name: linked[name][0] if len(linked[name][0]) >= MIN_STEP_CHARS else "" for name in ("fix_idea", "check")}
    reason = search.severity_reason.strip()
    return Explanation(
        summary=linked["summary"][0],
        why=linked["why"][0],
        severity=search.severity if reason else None,
        severity_reason=reason if search.severity else "",
        named_places=[
            *{place.text: place for _, places in linked.values() for place in places}.values(),
            *_list_commits(" ".join(texts.values()), agent_input),
        ],
        **steps,
    )


def _list_commits(text: str, agent_input: AgentInput) -> Iterator[NamedPlace]:
    """Yield the commits that a text names, of those that the model was shown."""
    window = agent_input.regression_window
    shown = [change.commit for change in (*window.commits, *window.further)] if window else []
    shown += (commit for one in agent_input.looked_up for commit in _LOGGED.findall(one.answer))
    for word in dict.fromkeys(_COMMIT.findall(text)):
        if commit := next((one for one in shown if one.startswith(word) or word.startswith(one)), ""):
            yield NamedPlace(text=word, path="", commit=commit)
