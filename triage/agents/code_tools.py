"""The tools of the codebase agent: four read-only lookups in the indexed commit.

A path counts only as the name of an indexed file; no file is opened by it. Something that does not exist is an answer,
not an error, because a model may well ask for it.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from langchain_core.tools import BaseTool, tool

from triage.citations.citation_lookup import CitationLookup
from triage.domain.code import Hit, Passage, SearchQuery
from triage.domain.issue import Reading
from triage.ports import Codebase
from triage.reading.code_names import find_identifiers, find_paths
from triage.threads import run_in_daemon_thread

MAX_QUERY_CHARS = 300
MAX_HITS = 8
MAX_HIT_LINES = 6
MAX_LINES = 200
"""Of one file in one answer."""
MAX_LINE_CHARS = 300
MAX_DEFINITIONS = 3
"""Definitions shown with their code; further ones are shown as locations."""
MAX_DEFINITION_LINES = 80
MAX_LOCATIONS = 20
MAX_COMMITS = 10
_WORD = re.compile(r"\w{3,}")


def build_code_tools(codebase: Codebase) -> list[BaseTool]:
    """Return the four tools. They ask the codebase in a thread, so that a lookup that hangs can be abandoned."""

    @tool(parse_docstring=True)
    async def search_code(query: str) -> str:
        """Find the files and passages that fit some words best.

        Ranked by words and names, not a regular expression. Gives places and the lines that share words with the query.

        Args:
            query: Names, messages or words that are likely to stand in the code.
        """
        return await run_in_daemon_thread(lambda: render_search(codebase, query))

    @tool(parse_docstring=True)
    async def read_lines(path: str, start: int, end: int) -> str:
        """Read lines of a file, with their numbers; at most 200 lines at a time.

        Args:
            path: The file's path, as passages show it.
            start: First line, from 1.
            end: Last line, included.
        """
        return await run_in_daemon_thread(lambda: render_lines(codebase, path, start, end))

    @tool(parse_docstring=True)
    async def find_symbol(name: str) -> str:
        """Find where a function, method, class or type is defined, with its code.

        Args:
            name: Its name, with its owner where that is known, such as `save` or `Store.save`.
        """
        return await run_in_daemon_thread(lambda: render_definitions(codebase, name))

    @tool(parse_docstring=True)
    async def git_history(path: str) -> str:
        """List the newest commits that changed a file: id, date, subject.

        Args:
            path: The file's path, as passages show it.
        """
        return await run_in_daemon_thread(lambda: render_history(codebase, path))

    return [search_code, read_lines, find_symbol, git_history]


def render_search(codebase: Codebase, query: str) -> str:
    """Return locations in the best files, each with the lines that share words with the query."""
    query = _clean_query(query)
    reading = Reading(title=query, identifiers=find_identifiers(query, "", []), paths=find_paths([query]))
    hits = codebase.search(SearchQuery(reading=reading), MAX_HITS)
    words = {word.lower() for word in _WORD.findall(query)}
    return (
        "\n\n".join(_render_hit(hit, words) for hit in hits) or "Nothing in the indexed commit shares words with that."
    )


def _render_hit(hit: Hit, words: set[str]) -> str:
    if not hit.passages:
        return f"## {hit.path}\n(known by its path alone)"
    first, *others = hit.passages
    return "\n".join(
        [
            *_render_passage(first, words),
            *(
                line
                for passage in others
                if _find_matching_lines(passage, words)
                for line in _render_passage(passage, words)
            ),
        ]
    )


def _render_passage(passage: Passage, words: set[str]) -> list[str]:
    matching = _find_matching_lines(passage, words)
    more = [f"({_pluralize(len(matching) - MAX_HIT_LINES, 'further line')} with these words)"]
    return [_format_heading(passage), *_number_lines(matching[:MAX_HIT_LINES]), *more[: len(matching) > MAX_HIT_LINES]]


def _find_matching_lines(passage: Passage, words: set[str]) -> list[tuple[int, str]]:
    numbered = enumerate(passage.text.split("\n"), passage.span.start)
    return [(number, line) for number, line in numbered if any(word in line.lower() for word in words)]


def render_lines(codebase: Codebase, path: str, start: int, end: int) -> str:

    def render(known_path: str) -> str:
        lines = codebase.read_lines(known_path)
        if lines is None:
            return "The text of this file was not indexed; only its path is known."
        first = max(1, start)
        last = min(len(lines), end, first + MAX_LINES - 1)
        if first > last:
            return f"{known_path} has {_pluralize(len(lines), 'line')}; there are none from {start} to {end}."
        cut = [f"(at most {MAX_LINES} lines at a time)"] if last < min(len(lines), end) else []
        heading = f"## {known_path}:{first}-{last} of {_pluralize(len(lines), 'line')}"
        return "\n".join([heading, *_number_lines(enumerate(lines[first - 1 : last], first)), *cut])

    return _render_for_file(codebase, path, render)


def render_definitions(codebase: Codebase, name: str) -> str:
    """Return definitions of a name: the first ones with their code, then locations."""
    found = codebase.find_definitions(_clean_query(name))
    if not found:
        return "Nothing of this name is defined in the indexed commit, as far as its syntax was read."
    bodies = [_render_definition(passage) for passage in found[:MAX_DEFINITIONS]]
    locations = [_format_heading(passage) for passage in found[MAX_DEFINITIONS:][:MAX_LOCATIONS]]
    further = len(found) - len(bodies) - len(locations)
    heading = ["Also defined, code not shown:"] if locations else []
    more = [f"(and at least {_pluralize(further, 'further place')})"] if further else []
    return "\n\n".join([*bodies, "\n".join([*heading, *locations, *more])]).strip()


def _render_definition(passage: Passage) -> str:
    lines = list(enumerate(passage.text.split("\n"), passage.span.start))
    left_out = len(lines) - MAX_DEFINITION_LINES
    more = [f"({_pluralize(left_out, 'further line')} of this definition not shown)"] if left_out > 0 else []
    return "\n".join([_format_heading(passage), *_number_lines(lines[:MAX_DEFINITION_LINES]), *more])


def render_history(codebase: Codebase, path: str) -> str:

    def render(known_path: str) -> str:
        history = codebase.read_history(known_path, MAX_COMMITS)
        lines = [f"{change.commit[:10]} {change.date[:10]} {change.subject}" for change in history.changes]
        if history.partial:
            lines.append("(Older commits are not known here: the clone is shallow, or git took too long.)")
        return "\n".join([f"## {known_path}", *lines]) if lines else "There is no git history here."

    return _render_for_file(codebase, path, render)


def _render_for_file(codebase: Codebase, path: str, render: Callable[[str], str]) -> str:
    paths = codebase.list_paths()
    found = CitationLookup(codebase.read_lines, paths).resolve(path)
    if found is not None:
        return render(found)
    name = path.strip().replace("\\", "/").rpartition("/")[2]
    same_name = [other for other in paths if name and other.rpartition("/")[2] == name]
    hint = "\n".join([f"Files of this name, {len(same_name[:MAX_HITS])} of {len(same_name)}:", *same_name[:MAX_HITS]])
    return f"No single indexed file has this path. {hint if same_name else 'Search for it by its words.'}"


def _clean_query(text: str) -> str:
    return text[:MAX_QUERY_CHARS].encode("utf-8", "replace").decode("utf-8")


def _format_heading(passage: Passage) -> str:
    span = passage.span
    return f"## {span.path}:{span.start}-{span.end}" + (f" ({passage.symbol})" if passage.symbol else "")


def _number_lines(lines: Iterable[tuple[int, str]]) -> Sequence[str]:
    numbered = list(lines)
    width = len(str(numbered[-1][0])) if numbered else 0
    return [f"{number:>{width}}| {_cut_line(line)}" for number, line in numbered]


def _cut_line(line: str) -> str:
    over = len(line) - MAX_LINE_CHARS
    return f"{line[:MAX_LINE_CHARS]} (... {over:,} characters left out)" if over > 0 else line


def _pluralize(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
