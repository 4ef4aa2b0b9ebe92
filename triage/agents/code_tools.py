"""The tools of the codebase agent: six read-only lookups in the indexed commit.

A path counts only as the name of an indexed file; no file is opened by it. Something that does not exist is an answer,
not an error, because a model may well ask for it.
"""

from langchain_core.tools import BaseTool, tool

from triage.agents.code_answers import (
    render_callers,
    render_definitions,
    render_history,
    render_lines,
    render_search,
    render_text_matches,
)
from triage.base.threads import in_thread
from triage.ports import Codebase


def build_code_tools(codebase: Codebase) -> list[BaseTool]:
    """Return the tools. They ask the codebase in a thread, so that a lookup that hangs can be abandoned."""

    @tool(parse_docstring=True)
    async def grep(text: str) -> str:
        """Find the lines that have a text, in all files: a message, an option, a constant, a call.

        Literal, not a regular expression. Definitions and product code first; further lines are counted by folder.
        Where no product code has the text, such as a message with values in it, similar lines are shown.

        Args:
            text: Part of one line, as it stands in the code.
        """
        return await in_thread(render_text_matches, codebase, text)

    @tool(parse_docstring=True)
    async def find_symbol(name: str) -> str:
        """Find where a function, method, class, type, constant, attribute or option is defined, with its code.

        Args:
            name: Its name, with its owner where that is known, such as `save` or `Store.save`.
        """
        return await in_thread(render_definitions, codebase, name)

    @tool(parse_docstring=True)
    async def callers(name: str) -> str:
        """Find the lines that call, subclass, import or mention a function, method, class or constant.

        Args:
            name: Its name, with its owner where that is known, such as `save` or `Store.save`.
        """
        return await in_thread(render_callers, codebase, name)

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
    async def search_code(query: str) -> str:
        """Find the files that fit some words best, when no text or name is known.

        Ranked by words and names. Gives places and the lines that share the rarest words with the query.

        Args:
            query: Names, messages or words that are likely to stand in the code.
        """
        return await in_thread(render_search, codebase, query)

    @tool(parse_docstring=True)
    async def git_history(path: str) -> str:
        """List the newest commits that changed a file: id, date, subject.

        Args:
            path: The file's path, as passages show it.
        """
        return await in_thread(render_history, codebase, path)

    return [grep, find_symbol, callers, read_lines, search_code, git_history]
