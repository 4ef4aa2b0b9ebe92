"""What the tools of the codebase agent answer: places in the indexed commit with numbered lines."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby

from triage.agents.shown_code import format_heading, format_location, number_lines, pluralize
from triage.citations.citation_lookup import CitationLookup
from triage.domain.code import Hit, LineMatch, LineMatches, Passage, SearchQuery
from triage.domain.issue import ParsedIssue
from triage.issue.code_names import find_identifiers, find_paths
from triage.ports import Codebase

MAX_QUERY_CHARS = 300
MAX_HITS = 8
MAX_HIT_LINES = 6
"""Of one file."""
MAX_GREP_LINES, MAX_CALLERS = 20, 25
MAX_LINES = 200
"""Of one file in one answer."""
MAX_DEFINITIONS = 3
"""Definitions shown with their code; further ones are shown as locations."""
MAX_FIRST_DEFINITION_LINES, MAX_DEFINITION_LINES = 80, 25
MAX_LOCATIONS = 20
MAX_MEMBERS = 20
"""Of the part of a definition that is not shown."""
MAX_ASSIGNMENTS = 6
MAX_COMMITS = 10
MIN_GREP_CHARS = 2
SUBSTRING_WEIGHT = 0.25
"""Of a word that stands inside a longer one."""
MIN_SHARE = 0.3
"""Of the weight of a file's best line; lines below only share common words."""
_PATTERN = re.compile(r"\w\|\w|\.[*+]|\\[bdswBDSW(.|]")
_MEMBER = re.compile(r"\s{0,40}(?:[\w()]{1,20}\s){0,4}(?:def|class|fn|func|function|fun|sub|struct|enum)\s+[\w.]+")
_WORD = re.compile(r"\w{3,}")
_WORDS = re.compile(r"\w+")


def render_search(codebase: Codebase, query: str) -> str:
    """Return locations in the best files, each with the lines that share the rarest words with the query."""
    query = _clean_query(query)
    parsed = ParsedIssue(title=query, identifiers=find_identifiers(query, "", []), paths=find_paths([query]))
    hits = codebase.search(SearchQuery(parsed=parsed), MAX_HITS)
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(query)))
    weights = _weigh_words(hits, words)
    rendered = filter(None, (_render_hit(hit, weights) for hit in hits))
    return "\n\n".join(rendered) or "Nothing in the indexed commit shares words with that."


def _weigh_words(hits: Sequence[Hit], words: Sequence[str]) -> dict[str, float]:
    """Return the weight of each word: the fewer lines have it, the more it tells."""
    lines = (line.lower() for hit in hits for passage in hit.passages for line in passage.text.split("\n"))
    counts = Counter(word for line in lines for word in words if word in line)
    return {word: 1 / count for word, count in counts.items()}


def _render_hit(hit: Hit, weights: dict[str, float]) -> str:
    """Return the best lines of a file below the headings of their passages; empty without any."""
    lines = [
        (weight, passage, numbered)
        for passage in hit.passages
        for numbered in enumerate(passage.text.split("\n"), passage.span.start)
        if (weight := _weigh_line(numbered[1].lower(), weights))
    ]
    least = MIN_SHARE * max((weight for weight, _, _ in lines), default=0.0)
    lines = [one for one in lines if one[0] >= least]
    best = sorted(lines, key=lambda one: -one[0])[:MAX_HIT_LINES]
    shown = [
        "\n".join([format_heading(passage), *number_lines(sorted(line for _, owner, line in best if owner is passage))])
        for passage in hit.passages
        if any(owner is passage for _, owner, _ in best)
    ]
    left_out = len(lines) - len(best)
    more = [f"({pluralize(left_out, 'further line')} with these words)"] if left_out else []
    return "\n".join([*shown, *more])


def _weigh_line(line: str, weights: dict[str, float]) -> float:
    whole = set(_WORDS.findall(line))
    return sum(
        weight if word in whole else weight * SUBSTRING_WEIGHT for word, weight in weights.items() if word in line
    )


def render_text_matches(codebase: Codebase, text: str) -> str:
    """Return the most telling lines that have a text, and where the others are."""
    found = codebase.find_text(_clean_query(text), MAX_GREP_LINES)
    if not found.total:
        heading = "Nothing in the indexed commit has this text."
        heading += " Ask for at least two characters." if len(text.strip()) < MIN_GREP_CHARS else ""
        heading += " It was taken literally, not as a pattern." if _PATTERN.search(text) else ""
    elif found.same_case:
        heading = f"{_count_lines(found)} {'has' if found.total == 1 else 'have'} this text."
    else:
        heading = f"No line has this text with these capitals. In any case: {_count_lines(found)}."
    similar = ["Lines of the product's code that share words with it:", _render_lines(found.similar)]
    return _join_blocks(heading, _render_lines(found.lines), *_note_rest(found), *similar[: 2 * bool(found.similar)])


def render_callers(codebase: Codebase, name: str) -> str:
    """Return lines that call, import or mention what has a name."""
    found = codebase.find_uses(_clean_query(name), MAX_CALLERS)
    if not found.total:
        return "No line of code uses this name, as far as it was read."
    kinds = ", ".join(pluralize(count, kind) for kind, count in found.kinds.items())
    verb = "uses" if found.total == 1 else "use"
    heading = f"{_count_lines(found)} {verb} it: {kinds}."
    if len(_WORDS.findall(name)) > 1:
        heading += " Types are not known: every use of the last name counts."
    return _join_blocks(heading, _render_lines(found.lines), *_note_rest(found))


def _count_lines(found: LineMatches) -> str:
    return f"{pluralize(found.total, 'line')} in {pluralize(found.files, 'file')}"


def _note_rest(found: LineMatches) -> list[str]:
    places = ", ".join(f"{path} {count:,}" for path, count in found.not_listed.items())
    return [
        *([f"(Further lines, not shown: {places})"] if places else []),
        *([] if found.complete else ["(There was no time for all files: ask for something rarer.)"]),
    ]


def _render_lines(matches: Sequence[LineMatch]) -> str:
    """Return lines by file, in the order of their files, each below the definition around it."""
    order = {path: place for place, path in enumerate(dict.fromkeys(match.path for match in matches))}
    by_file = sorted(matches, key=lambda match: (order[match.path], match.line))
    blocks = []
    for (path, symbol), group in groupby(by_file, key=lambda match: (match.path, match.symbol)):
        lines = [(match.line, match.text) for match in group]
        heading = format_location(path, lines[0][0], lines[-1][0], symbol, is_range=False)
        blocks.append("\n".join([heading, *number_lines(lines)]))
    return "\n".join(blocks)


def _join_blocks(*blocks: str) -> str:
    return "\n".join(filter(None, blocks))


def render_lines(codebase: Codebase, path: str, start: int, end: int) -> str:
    """Return lines of a file, from 1 and both included."""

    def render(known_path: str) -> str:
        lines = codebase.read_lines(known_path)
        if lines is None:
            return "The text of this file was not indexed; only its path is known."
        first = max(1, start)
        last = min(len(lines), end, first + MAX_LINES - 1)
        if first > last:
            return f"{known_path} has {pluralize(len(lines), 'line')}; there are none from {start} to {end}."
        cut = [f"(at most {MAX_LINES} lines at a time)"] if last < min(len(lines), end) else []
        heading = f"## {known_path}:{first}-{last} of {pluralize(len(lines), 'line')}"
        return "\n".join([heading, *number_lines(enumerate(lines[first - 1 : last], first)), *cut])

    return _render_for_file(codebase, path, render)


def render_definitions(codebase: Codebase, name: str) -> str:
    """Return definitions of a name: the first ones with their code, then locations; else where it gets its value.

    If it has neither, lines with the name.
    """
    name = _clean_query(name)
    found, assigned = codebase.find_definitions(name), codebase.find_assignments(name)
    if not found and not assigned:
        last = (_WORDS.findall(name) or [""])[-1]
        matches = codebase.find_text(last, MAX_ASSIGNMENTS)
        nothing = "Nothing of this name is defined in the indexed commit, as far as its syntax was read."
        return _join_blocks(
            nothing, *([f"Lines with `{last}`:", _render_lines(matches.lines)] if matches.lines else [])
        )
    bodies = [
        _render_definition(passage, MAX_DEFINITION_LINES if number else MAX_FIRST_DEFINITION_LINES)
        for number, passage in enumerate(found[:MAX_DEFINITIONS])
    ]
    locations = [format_heading(passage) for passage in found[MAX_DEFINITIONS:][:MAX_LOCATIONS]]
    further = len(found) - len(bodies) - len(locations)
    heading = ["Also defined, code not shown:"] if locations else []
    more = [f"(and at least {pluralize(further, 'further place')})"] if further else []
    values = _render_assignments(assigned, is_short=bool(found))
    return "\n\n".join(filter(None, [*bodies, "\n".join([*heading, *locations, *more]), values]))


def _render_definition(passage: Passage, max_lines: int) -> str:
    lines = list(enumerate(passage.text.split("\n"), passage.span.start))
    shown, left_out = lines[:max_lines], lines[max_lines:]
    members = [one for one in left_out if _MEMBER.match(one[1])][:MAX_MEMBERS]
    note = "; these begin definitions:" if members else ""
    more = [f"({pluralize(len(left_out), 'further line')} of this definition not shown{note})"] if left_out else []
    return "\n".join([format_heading(passage), *number_lines(shown), *more, *number_lines(members)])


def _render_assignments(assigned: Sequence[Passage], *, is_short: bool) -> str:
    shown = assigned[: MAX_ASSIGNMENTS // 2 if is_short else MAX_ASSIGNMENTS]
    blocks = [
        _render_definition(passage, 1 if is_short and number else MAX_DEFINITION_LINES * 2)
        for number, passage in enumerate(shown)
    ]
    heading = ["It gets a value here:"] if shown else []
    left_out = len(assigned) - len(shown)
    more = [f"(and at {pluralize(left_out, 'further place')})"] if left_out else []
    return "\n".join([*heading, *blocks, *more])


def render_history(codebase: Codebase, path: str) -> str:
    """Return the newest commits of a file."""

    def render(known_path: str) -> str:
        history = codebase.read_history(known_path, MAX_COMMITS)
        lines = [f"{change.commit[:10]} {change.date[:10]} {change.subject}" for change in history.changes]
        if history.partial:
            lines.append("(Older commits are not known here: the clone is shallow, or git took too long.)")
        return "\n".join([f"## {known_path}", *lines]) if lines else "There is no git history here."

    return _render_for_file(codebase, path, render)


def _render_for_file(codebase: Codebase, path: str, render: Callable[[str], str]) -> str:
    paths = codebase.list_paths()
    found = CitationLookup(codebase).resolve(path)
    if found is not None:
        return render(found)
    name = path.strip().replace("\\", "/").rpartition("/")[2]
    same_name = [other for other in paths if name and other.rpartition("/")[2] == name]
    hint = "\n".join([f"Files of this name, {len(same_name[:MAX_HITS])} of {len(same_name)}:", *same_name[:MAX_HITS]])
    return f"No single indexed file has this path. {hint if same_name else 'Search for it by its words.'}"


def _clean_query(text: str) -> str:
    return text[:MAX_QUERY_CHARS].encode("utf-8", "replace").decode("utf-8")
