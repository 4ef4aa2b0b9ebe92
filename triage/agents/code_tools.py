"""The tools of the codebase agent: five read-only lookups in the indexed commit.

They answer with excerpts and words of ours, as an artifact, because an excerpt gets its number when it is shown.

A path counts only as the name of an indexed file; no file is opened by it. Something that does not exist is an answer,
not an error, because a model may well ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from langchain_core.tools import BaseTool, tool

from triage.agents.shown_code import Block, ShownCode, format_passage, make_excerpt, pluralize
from triage.base.threads import in_thread
from triage.domain.code import LineMatch, LineMatches, Passage

if TYPE_CHECKING:
    from triage.find.codebase import Codebase


MAX_QUERY_CHARS = 300
MAX_SAME_NAME = 8
"""Files of one name that are listed."""
MAX_GREP_LINES = 12
GREP_MARGIN = 2
"""Lines above and below a match, within its definition."""
MAX_FILE_MATCHES = 6
"""Matches of one file that are shown. All are counted, with the numbers of their lines."""
MAX_NAME_LINES = 8
"""Lines shown with a name that nothing defines."""
MAX_LINES = 200
"""Of one file in one answer."""
MAX_DEFINITIONS = 3
"""Definitions shown with their code; further ones are shown as locations."""
MAX_FIRST_DEFINITION_LINES, MAX_DEFINITION_LINES = 80, 25
MAX_LOCATIONS = 20
MAX_COMMITS = 10
NO_COMMIT = "No commit with this id is in the history of the indexed one."
_PATTERN = re.compile(r"\w\|\w|\.[*+]|\\[bdswBDSW(.|]")
_WORDS = re.compile(r"\w+")


Answer = tuple[str, list[Block]]


async def _answer(look_up: Callable[..., list[Block]], *arguments: object) -> Answer:
    blocks = await in_thread(look_up, *arguments)
    return ShownCode().show(blocks), blocks


def build_code_tools(codebase: Codebase) -> list[BaseTool]:
    """Return the tools. They ask the codebase in a thread, so that a lookup that hangs can be abandoned."""

    @tool(parse_docstring=True, response_format="content_and_artifact")
    async def grep(text: str) -> Answer:
        """Find the lines that have a text, in all files: a message, an option, a constant, a call such as `save(`.

        Literal, not a regular expression. Each with two lines around it, product code and definitions first; further
        ones are counted by file.

        Args:
            text: Part of one line, as it stands in the code.
        """
        return await _answer(render_text_matches, codebase, text)

    @tool(parse_docstring=True, response_format="content_and_artifact")
    async def find_symbol(name: str) -> Answer:
        """Find where a function, method, class or type is defined, with its code; else lines with the name.

        Args:
            name: Its name, with its owner where that is known, such as `save` or `Store.save`.
        """
        return await _answer(render_definitions, codebase, name)

    @tool(parse_docstring=True, response_format="content_and_artifact")
    async def read_lines(path: str, start: int, end: int) -> Answer:
        """Read lines of a file, with their numbers; at most 200 lines at a time. A long line is whole if read alone.

        Args:
            path: The file's path, as passages show it.
            start: First line, from 1.
            end: Last line, included.
        """
        return await _answer(render_lines, codebase, path, start, end)

    @tool(parse_docstring=True, response_format="content_and_artifact")
    async def git_log(path: str, text: str = "") -> Answer:
        """List the newest commits that changed a file: id, date, subject, and the first release with it.

        Args:
            path: The file's path, as passages show it.
            text: A line of its code, or a part: then only the commits that added or removed it.
        """
        return await _answer(render_log, codebase, path, text)

    @tool(parse_docstring=True, response_format="content_and_artifact")
    async def show_commit(commit: str, path: str = "") -> Answer:
        """Show what a commit changed: its message and its diff.

        Args:
            commit: Its id, as `git_log` and the list of what changed show it.
            path: One of its files: then only the diff of this one.
        """
        return await _answer(render_commit, codebase, commit, path)

    return [grep, find_symbol, read_lines, git_log, show_commit]


def render_text_matches(codebase: Codebase, text: str) -> list[Block]:
    """Return the most telling lines that have a text, with those around them, and where the others are."""
    matches = codebase.find_text(text[:MAX_QUERY_CHARS], MAX_GREP_LINES)
    if not matches.total:
        heading = "Nothing in the indexed commit has this text."
        heading += " Ask for at least two characters." if len(text.strip()) < 2 else ""
        heading += " It was taken literally, not as a pattern." if _PATTERN.search(text) else ""
    elif matches.same_case:
        heading = f"{_count_lines(matches)} {'has' if matches.total == 1 else 'have'} this text."
    else:
        heading = f"No line has this text with these capitals. In any case: {_count_lines(matches)}."
    places = ", ".join(f"{path} {count:,}" for path, count in matches.not_listed.items())
    further = [f"(Further lines, not shown: {places})"] if places else []
    cut_off = [] if matches.complete else ["(There was no time for all files: ask for something rarer.)"]
    return [heading, *_list_excerpts(codebase, matches.lines), *further, *cut_off]


def _count_lines(found: LineMatches) -> str:
    return f"{pluralize(found.total, 'line')} in {pluralize(found.files, 'file')}"


def _list_excerpts(codebase: Codebase, matches: Sequence[LineMatch]) -> list[Block]:
    """Return each line that matches with those around it, in the order of their files; of many the numbers."""
    by_path: dict[str, list[LineMatch]] = {}
    for match in sorted(matches, key=lambda match: match.line):
        by_path.setdefault(match.path, []).append(match)
    shown: list[Block] = []
    for path in dict.fromkeys(match.path for match in matches):
        shown += _show_around(path, by_path[path][:MAX_FILE_MATCHES], codebase)
        further = ", ".join(str(match.line) for match in by_path[path][MAX_FILE_MATCHES:])
        shown += [f"(Also in {path}: {further})"] if further else []
    return shown


def _show_around(path: str, matches: Sequence[LineMatch], codebase: Codebase) -> Iterator[Passage]:
    """Yield an excerpt for each run of lines around the matches of a file."""
    lines = codebase.read_lines(path) or []
    texts = {match.line: match.text for match in matches}  # of a very long line the part around the match
    symbols = {match.line: match.symbol for match in matches}
    last = max(len(lines), *texts)
    around = {near for line in texts for near in range(line - GREP_MARGIN, line + GREP_MARGIN + 1) if 1 <= near <= last}
    for _, run in groupby(enumerate(sorted(around)), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        shown = ((number, texts.get(number) or "".join(lines[number - 1 : number])) for number in numbers)
        yield make_excerpt(path, shown, next(symbols[number] for number in numbers if number in symbols))


def render_lines(codebase: Codebase, path: str, start: int, end: int) -> list[Block]:
    """Return lines of a file, from 1 and both included."""

    def render(known_path: str) -> list[Block]:
        lines = codebase.read_lines(known_path)
        if lines is None:
            return ["The text of this file was not indexed; only its path is known."]
        first = max(1, start)
        last = min(len(lines), end, first + MAX_LINES - 1)
        if first > last:
            return [f"{known_path} has {pluralize(len(lines), 'line')}; there are none from {start} to {end}."]
        cut = f"; at most {MAX_LINES} at a time" if last < min(len(lines), end) else ""
        excerpt = make_excerpt(known_path, enumerate(lines[first - 1 : last], first))
        return [excerpt, f"(of {pluralize(len(lines), 'line')}{cut})"]

    return _render_for_file(codebase, path, render)


def render_definitions(codebase: Codebase, name: str) -> list[Block]:
    """Return definitions of a name, the first ones with their code, then locations; without any, lines with the name.

    A constant or an option has no definition in the index: the lines that begin with it come first.
    """
    name = name[:MAX_QUERY_CHARS].strip("` ")
    passages = codebase.find_definitions(name)
    if not passages:
        last = (_WORDS.findall(name) or [""])[-1]
        matches = codebase.find_text(last, MAX_NAME_LINES)
        nothing = "No function, class or type of this name is defined in the indexed commit, as far as it was parsed."
        excerpts = _list_excerpts(codebase, matches.lines)
        return [nothing, f"Lines with `{last}`:", *excerpts] if excerpts else [nothing]
    bodies = [
        block
        for number, passage in enumerate(passages[:MAX_DEFINITIONS])
        for block in _render_definition(passage, MAX_DEFINITION_LINES if number else MAX_FIRST_DEFINITION_LINES)
    ]
    locations = [format_passage(passage) for passage in passages[MAX_DEFINITIONS:][:MAX_LOCATIONS]]
    further = len(passages) - MAX_DEFINITIONS - len(locations)
    heading = ["Also defined, code not shown:"] if locations else []
    more = [f"(and at least {pluralize(further, 'further place')})"] if further > 0 else []
    return [*bodies, *heading, *locations, *more]


def _render_definition(passage: Passage, max_lines: int) -> list[Block]:
    lines = list(enumerate(passage.text.split("\n"), passage.span.start))
    left_out = len(lines) - max_lines
    more = [f"({pluralize(left_out, 'further line')} of this definition not shown)"] if left_out > 0 else []
    return [make_excerpt(passage.span.path, lines[:max_lines], passage.symbol), *more]


def render_log(codebase: Codebase, path: str, text: str = "") -> list[Block]:
    """Return the newest commits of a file; with a text, those that added or removed it."""

    def render(known_path: str) -> list[Block]:
        history = codebase.read_history(known_path, MAX_COMMITS, text[:MAX_QUERY_CHARS].replace("\0", ""))
        lines = [
            f"{change.commit[:10]} {change.date[:10]} {change.subject}"
            + (f" (in {release})" if (release := history.releases.get(change.commit)) else "")
            for change in history.changes
        ]
        if history.partial:
            lines.append("(Older commits are not known here: the clone is shallow, or git took too long.)")
        nothing = "No known commit added or removed this text." if text else "There is no git history here."
        return [f"{known_path}:", *lines] if lines else [nothing]

    return _render_for_file(codebase, path, render)


def render_commit(codebase: Codebase, commit: str, path: str = "") -> list[Block]:
    """Return the message and the diff of a commit."""
    commit = commit.strip().lower()
    if not path:
        return [codebase.show_commit(commit) or NO_COMMIT]

    def render(known_path: str) -> list[Block]:
        shown = codebase.show_commit(commit, known_path)
        return [shown or (f"This commit does not change {known_path}." if codebase.show_commit(commit) else NO_COMMIT)]

    return _render_for_file(codebase, path, render)


def _render_for_file(codebase: Codebase, path: str, render: Callable[[str], list[Block]]) -> list[Block]:
    """Return what `render` makes of the file that a path means; if it means none, which files have its name."""
    paths = codebase.list_paths()
    path = path.strip("` ").removeprefix("./")
    found = path if path in paths else codebase.resolve_path(path)
    if found is not None:
        return render(found)
    name = path.replace("\\", "/").rpartition("/")[2]
    same_name = [other for other in paths if name and other.rpartition("/")[2] == name]
    listed = same_name[:MAX_SAME_NAME]
    hint = "\n".join([f"Files of this name, {len(listed)} of {len(same_name)}:", *listed])
    return [f"No single indexed file has this path. {hint if same_name else 'Ask `grep` for a text in it.'}"]
