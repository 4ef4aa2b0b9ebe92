"""The tools of the codebase agent: five read-only lookups in the indexed commit, which answer with numbered lines.

A path counts only as the name of an indexed file; no file is opened by it. Something that does not exist is an answer,
not an error, because a model may well ask for it.
"""

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from langchain_core.tools import BaseTool, tool

from triage.agents.shown_code import format_heading, format_location, number_lines, pluralize
from triage.base.threads import in_thread
from triage.citations.citation_lookup import CitationLookup, is_named
from triage.citations.written_place import clean_symbol
from triage.domain.code import LineMatch, LineMatches, Passage
from triage.ports import Codebase

MAX_QUERY_CHARS = 300
MAX_SAME_NAME = 8
"""Files of one name that are listed."""
MAX_GREP_LINES = 25
MAX_NAME_LINES = 8
"""Lines shown with a name that nothing defines."""
MAX_LINES = 200
"""Of one file in one answer."""
MAX_DEFINITIONS = 3
"""Definitions shown with their code; further ones are shown as locations."""
MAX_FIRST_DEFINITION_LINES, MAX_DEFINITION_LINES = 80, 25
MAX_LOCATIONS = 20
OF_OTHERS = "Its owner defines no such name, but may inherit it. Others of this name:"
MAX_MEMBERS = 20
"""Of the part of a definition that is not shown."""
MAX_COMMITS = 10
NO_COMMIT = "No commit with this id is in the history of the indexed one."
MIN_GREP_CHARS = 2
_PATTERN = re.compile(r"\w\|\w|\.[*+]|\\[bdswBDSW(.|]")
_MEMBER = re.compile(r"\s{0,40}(?:[\w()]{1,20}\s){0,4}(?:def|class|fn|func|function|fun|sub|struct|enum)\s+[\w.]+")
_WORDS = re.compile(r"\w+")


def build_code_tools(codebase: Codebase) -> list[BaseTool]:
    """Return the tools. They ask the codebase in a thread, so that a lookup that hangs can be abandoned."""

    @tool(parse_docstring=True)
    async def grep(text: str) -> str:
        """Find the lines that have a text, in all files: a message, an option, a constant, a call such as `save(`.

        Literal, not a regular expression. Product code and definitions first; further lines are counted by file.

        Args:
            text: Part of one line, as it stands in the code.
        """
        return await in_thread(render_text_matches, codebase, text)

    @tool(parse_docstring=True)
    async def find_symbol(name: str) -> str:
        """Find where a function, method, class or type is defined, with its code; else lines with the name.

        Args:
            name: Its name, with its owner where that is known, such as `save` or `Store.save`.
        """
        return await in_thread(render_definitions, codebase, name)

    @tool(parse_docstring=True)
    async def read_lines(path: str, start: int, end: int) -> str:
        """Read lines of a file, with their numbers; at most 200 lines at a time.

        Args:
            path: The file's path, as passages show it.
            start: First line, from 1.
            end: Last line, included.
        """
        return await in_thread(render_lines, codebase, path, start, end)

    @tool(parse_docstring=True)
    async def git_log(path: str, text: str = "") -> str:
        """List the newest commits that changed a file: id, date, subject, and the first release with it.

        Args:
            path: The file's path, as passages show it.
            text: A line of its code, or a part: then only the commits that added or removed it.
        """
        return await in_thread(render_log, codebase, path, text)

    @tool(parse_docstring=True)
    async def show_commit(commit: str, path: str = "") -> str:
        """Show what a commit changed: its message and its diff.

        Args:
            commit: Its id, as `git_log` and the list of what changed show it.
            path: One of its files: then only the diff of this one.
        """
        return await in_thread(render_commit, codebase, commit, path)

    return [grep, find_symbol, read_lines, git_log, show_commit]


def render_text_matches(codebase: Codebase, text: str) -> str:
    """Return the most telling lines that have a text, and where the others are."""
    found = codebase.find_text(text[:MAX_QUERY_CHARS], MAX_GREP_LINES)
    if not found.total:
        heading = "Nothing in the indexed commit has this text."
        heading += " Ask for at least two characters." if len(text.strip()) < MIN_GREP_CHARS else ""
        heading += " It was taken literally, not as a pattern." if _PATTERN.search(text) else ""
    elif found.same_case:
        heading = f"{_count_lines(found)} {'has' if found.total == 1 else 'have'} this text."
    else:
        heading = f"No line has this text with these capitals. In any case: {_count_lines(found)}."
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
    """Return definitions of a name, the first ones with their code, then locations; without any, lines with the name.

    A constant or an option has no definition in the index: the lines that begin with it come first.
    """
    name = name[:MAX_QUERY_CHARS]
    name = clean_symbol(name) or name
    found = codebase.find_definitions(name)
    if not found:
        last = (_WORDS.findall(name) or [""])[-1]
        matches = codebase.find_text(last, MAX_NAME_LINES)
        nothing = "No function, class or type of this name is defined in the indexed commit, as far as it was parsed."
        return _join_blocks(
            nothing, *([f"Lines with `{last}`:", _render_lines(matches.lines)] if matches.lines else [])
        )
    is_other = len(_WORDS.findall(name)) > 1 and not any(is_named(one, name) for one in found)
    shown = 1 if is_other else MAX_DEFINITIONS
    bodies = [
        _render_definition(passage, MAX_DEFINITION_LINES if number else MAX_FIRST_DEFINITION_LINES)
        for number, passage in enumerate(found[:shown])
    ]
    locations = [format_heading(passage) for passage in found[shown:][:MAX_LOCATIONS]]
    further = len(found) - len(bodies) - len(locations)
    heading = ["Also defined, code not shown:"] if locations else []
    more = [f"(and at least {pluralize(further, 'further place')})"] if further else []
    absent = OF_OTHERS if is_other else ""
    return "\n\n".join(filter(None, [absent, *bodies, "\n".join([*heading, *locations, *more])]))


def _render_definition(passage: Passage, max_lines: int) -> str:
    lines = list(enumerate(passage.text.split("\n"), passage.span.start))
    shown, left_out = lines[:max_lines], lines[max_lines:]
    members = [one for one in left_out if _MEMBER.match(one[1])][:MAX_MEMBERS]
    note = "; these begin definitions:" if members else ""
    more = [f"({pluralize(len(left_out), 'further line')} of this definition not shown{note})"] if left_out else []
    return "\n".join([format_heading(passage), *number_lines(shown), *more, *number_lines(members)])


def render_log(codebase: Codebase, path: str, text: str = "") -> str:
    """Return the newest commits of a file; with a text, those that added or removed it."""

    def render(known_path: str) -> str:
        history = codebase.read_history(known_path, MAX_COMMITS, text[:MAX_QUERY_CHARS].replace("\0", ""))
        lines = [
            f"{change.commit[:10]} {change.date[:10]} {change.subject}"
            + (f" (in {release})" if (release := history.releases.get(change.commit)) else "")
            for change in history.changes
        ]
        if history.partial:
            lines.append("(Older commits are not known here: the clone is shallow, or git took too long.)")
        nothing = "No known commit added or removed this text." if text else "There is no git history here."
        return "\n".join([f"## {known_path}", *lines]) if lines else nothing

    return _render_for_file(codebase, path, render)


def render_commit(codebase: Codebase, commit: str, path: str = "") -> str:
    """Return the message and the diff of a commit."""
    commit = commit.strip().lower()
    if not path:
        return codebase.show_commit(commit) or NO_COMMIT

    def render(known_path: str) -> str:
        shown = codebase.show_commit(commit, known_path)
        return shown or (f"This commit does not change {known_path}." if codebase.show_commit(commit) else NO_COMMIT)

    return _render_for_file(codebase, path, render)


def _render_for_file(codebase: Codebase, path: str, render: Callable[[str], str]) -> str:
    paths = codebase.list_paths()
    found = CitationLookup(codebase).resolve(path)
    if found is not None:
        return render(found)
    name = path.strip().replace("\\", "/").rpartition("/")[2]
    same_name = [other for other in paths if name and other.rpartition("/")[2] == name]
    hint = "\n".join(
        [f"Files of this name, {len(same_name[:MAX_SAME_NAME])} of {len(same_name)}:", *same_name[:MAX_SAME_NAME]]
    )
    return f"No single indexed file has this path. {hint if same_name else 'Ask `grep` for a text in it.'}"
