"""What the codebase agent may look up: four questions to the indexed commit. They read, and do nothing else.

A path counts only as the name of an indexed file; nothing is opened by it. What is asked for and not there is an
answer, not an error: a model may well ask for it.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from langchain_core.tools import BaseTool, tool

from triage.citations.indexed_code import Checkout
from triage.domain.code import Hit, Passage, SearchQuery
from triage.domain.issue import Reading
from triage.ports import Codebase
from triage.reading.code_names import identifiers, paths
from triage.threads import in_daemon_thread

MAX_ASKED_CHARS = 300
MAX_HITS = 8
MAX_HIT_LINES = 6
MAX_LINES = 200
"""Of one file in one answer."""
MAX_LINE_CHARS = 300
MAX_BODIES = 3
"""Definitions shown with their code; of further ones the place is told."""
MAX_BODY_LINES = 80
MAX_PLACES = 20
MAX_COMMITS = 10
_WORD = re.compile(r"\w{3,}")


def code_tools(codebase: Codebase) -> list[BaseTool]:
    """The four tools over one codebase, which is asked in a thread: a question that hangs can be left alone."""

    @tool(parse_docstring=True)
    async def search_code(query: str) -> str:
        """Find the files and passages that fit some words best.

        Ranked by words and names, not a regular expression. Gives places and the lines that share words with the query.

        Args:
            query: Names, messages or words that are likely to stand in the code.
        """
        return await in_daemon_thread(lambda: found_code(codebase, query))

    @tool(parse_docstring=True)
    async def read_lines(path: str, start: int, end: int) -> str:
        """Read lines of a file, with their numbers; at most 200 lines at a time.

        Args:
            path: The file's path, as passages show it.
            start: First line, from 1.
            end: Last line, included.
        """
        return await in_daemon_thread(lambda: lines_of(codebase, path, start, end))

    @tool(parse_docstring=True)
    async def find_symbol(name: str) -> str:
        """Find where a function, method, class or type is defined, with its code.

        Args:
            name: Its name, with its owner where that is known, such as `save` or `Store.save`.
        """
        return await in_daemon_thread(lambda: definitions_of(codebase, name))

    @tool(parse_docstring=True)
    async def git_history(path: str) -> str:
        """List the newest commits that changed a file: id, date, subject.

        Args:
            path: The file's path, as passages show it.
        """
        return await in_daemon_thread(lambda: changes_of(codebase, path))

    return [search_code, read_lines, find_symbol, git_history]


def found_code(codebase: Codebase, query: str) -> str:
    """Places of the best files, each with the lines that share words with the query."""
    asked = _asked(query)
    reading = Reading(title=asked, identifiers=identifiers(asked, "", []), paths=paths([asked]))
    hits = codebase.search(SearchQuery(reading=reading), MAX_HITS)
    wanted = {word.lower() for word in _WORD.findall(asked)}
    return "\n\n".join(_hit(hit, wanted) for hit in hits) or "Nothing in the indexed commit shares words with that."


def _hit(hit: Hit, wanted: set[str]) -> str:
    if not hit.passages:
        return f"## {hit.path}\n(known by its path alone)"
    first, *others = hit.passages
    return "\n".join(
        [*_passage(first, wanted), *(line for one in others if _fitting(one, wanted) for line in _passage(one, wanted))]
    )


def _passage(passage: Passage, wanted: set[str]) -> list[str]:
    """Its place, and the lines that share words with the query."""
    fitting = _fitting(passage, wanted)
    more = [f"({_count(len(fitting) - MAX_HIT_LINES, 'further line')} with these words)"]
    return [_head(passage), *_numbered(fitting[:MAX_HIT_LINES]), *more[: len(fitting) > MAX_HIT_LINES]]


def _fitting(passage: Passage, wanted: set[str]) -> list[tuple[int, str]]:
    numbered = enumerate(passage.text.split("\n"), passage.span.start)
    return [(number, line) for number, line in numbered if any(word in line.lower() for word in wanted)]


def lines_of(codebase: Codebase, path: str, start: int, end: int) -> str:
    """Lines of a file with their numbers."""

    def read(found: str) -> str:
        lines = codebase.lines(found)
        if lines is None:
            return "The text of this file was not indexed; only its path is known."
        first = max(1, start)
        last = min(len(lines), end, first + MAX_LINES - 1)
        if first > last:
            return f"{found} has {_count(len(lines), 'line')}; there are none from {start} to {end}."
        cut = [f"(at most {MAX_LINES} lines at a time)"] if last < min(len(lines), end) else []
        head = f"## {found}:{first}-{last} of {_count(len(lines), 'line')}"
        return "\n".join([head, *_numbered(enumerate(lines[first - 1 : last], first)), *cut])

    return _of_file(codebase, path, read)


def definitions_of(codebase: Codebase, name: str) -> str:
    """Definitions of a name: the first with their code, then places."""
    found = codebase.defined(_asked(name))
    if not found:
        return "Nothing of this name is defined in the indexed commit, as far as its syntax was read."
    bodies = [_body(passage) for passage in found[:MAX_BODIES]]
    places = [_head(passage) for passage in found[MAX_BODIES:][:MAX_PLACES]]
    further = len(found) - len(bodies) - len(places)
    heading = ["Also defined, code not shown:"] if places else []
    more = [f"(and at least {_count(further, 'further place')})"] if further else []
    return "\n\n".join([*bodies, "\n".join([*heading, *places, *more])]).strip()


def _body(passage: Passage) -> str:
    lines = list(enumerate(passage.text.split("\n"), passage.span.start))
    left_out = len(lines) - MAX_BODY_LINES
    more = [f"({_count(left_out, 'further line')} of this definition not shown)"] if left_out > 0 else []
    return "\n".join([_head(passage), *_numbered(lines[:MAX_BODY_LINES]), *more])


def changes_of(codebase: Codebase, path: str) -> str:
    """The newest commits that changed a file."""

    def ask(found: str) -> str:
        history = codebase.history(found, MAX_COMMITS)
        told = [f"{change.commit[:10]} {change.date[:10]} {change.subject}" for change in history.changes]
        if history.partial:
            told.append("(Older commits are not known here: the clone is shallow, or git took too long.)")
        return "\n".join([f"## {found}", *told]) if told else "There is no git history here."

    return _of_file(codebase, path, ask)


def _of_file(codebase: Codebase, path: str, answer: Callable[[str], str]) -> str:
    """The answer for the indexed file that is meant."""
    known = codebase.paths()
    found = Checkout(codebase.lines, known).resolve(path)
    if found is not None:
        return answer(found)
    name = path.strip().replace("\\", "/").rpartition("/")[2]
    alike = [one for one in known if name and one.rpartition("/")[2] == name]
    hint = "\n".join([f"Files of this name, {len(alike[:MAX_HITS])} of {len(alike)}:", *alike[:MAX_HITS]])
    return f"No single indexed file has this path. {hint if alike else 'Search for it by its words.'}"


def _asked(text: str) -> str:
    """What a model asks for, in characters that can be encoded, and not too many."""
    return text[:MAX_ASKED_CHARS].encode("utf-8", "replace").decode("utf-8")


def _head(passage: Passage) -> str:
    span = passage.span
    return f"## {span.path}:{span.start}-{span.end}" + (f" ({passage.symbol})" if passage.symbol else "")


def _numbered(lines: Iterable[tuple[int, str]]) -> Sequence[str]:
    """Lines behind their numbers, as the retriever shows passages."""
    shown = list(lines)
    width = len(str(shown[-1][0])) if shown else 0
    return [f"{number:>{width}}| {_cut(line)}" for number, line in shown]


def _cut(line: str) -> str:
    over = len(line) - MAX_LINE_CHARS
    return f"{line[:MAX_LINE_CHARS]} (... {over:,} characters left out)" if over > 0 else line


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
