"""From an issue to its `Reading`: pure, linear, and nothing in the text makes it raise."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from triage.domain.issue import CodeBlock, Issue, Reading, Section
from triage.reading.code_names import find_identifiers, find_paths
from triage.reading.error_messages import find_error_messages
from triage.reading.markdown.visible_text import (
    Block,
    VisiblePage,
    extract_visible_line,
    extract_visible_page,
    format_block,
)
from triage.reading.traces import FoundTrace, find_traces
from triage.reading.versions import find_versions

_SESSION = "pycon"
AUTHOR_COMMENT_HEADING = "Comment by the reporter"
_MAX_FURTHER_CHARS = 65_536
_UNANSWERED = re.compile(r"^[_*\s]*no response[_*\s.]*$", re.I)
_PROMPT = re.compile(r"^>>> ?", re.M)


class _Texts(NamedTuple):
    """The page in two kinds of text, traces found in both."""

    prose: str
    code: list[Block]
    traces: list[FoundTrace]


def read_issue(issue: Issue) -> Reading:
    """Take apart what a person sees in the issue, with what its author added in comments."""
    title, invisible = extract_visible_line(issue.title)
    pages = [extract_visible_page(issue.body), *read_author_comments(issue)]
    blocks = _sessions(_joined(pages))
    texts = _take_apart(blocks)
    sections = _sections(blocks)
    code = [block.text for block in texts.code]
    return Reading(
        title=title,
        body="\n\n".join(format_block(block) for block in blocks),
        prose=texts.prose,
        code=[CodeBlock(language=block.language, text=block.text) for block in texts.code],
        traces=[found.trace for found in texts.traces],
        error_messages=find_error_messages(title, [*code, texts.prose], texts.traces),
        identifiers=find_identifiers(title, texts.prose, code),
        paths=find_paths([title, texts.prose, *code]),
        versions=find_versions(f"{title}\n{texts.prose}", code, sections),
        sections=sections,
        links=list(dict.fromkeys(link for page in pages for link in page.links)),
        hidden_fragments=invisible + sum(page.hidden_fragments for page in pages),
    )


def read_author_comments(issue: Issue) -> list[VisiblePage]:
    """What the issue's author added in comments, oldest first; at most 65,536 characters of it."""
    pages: list[VisiblePage] = []
    left = _MAX_FURTHER_CHARS
    for exchange in issue.thread:
        mine = exchange.author == issue.author and not exchange.by_bot and not exchange.ours
        if not issue.author or not mine or not exchange.body.strip():
            continue
        left -= len(exchange.body)
        if left < 0:
            break
        pages.append(extract_visible_page(exchange.body))
    return pages


def _joined(pages: Sequence[VisiblePage]) -> list[Block]:
    blocks = list(pages[0].blocks)
    for page in pages[1:]:
        if page.blocks:
            blocks += [Block(kind="heading", text=AUTHOR_COMMENT_HEADING, level=1), *page.blocks]
    return blocks


def _sessions(blocks: Sequence[Block]) -> list[Block]:
    """Bare Python sessions as code; pieces that only an empty line parts are one session."""
    whole: list[Block] = []
    parts: list[str] = []
    for block in map(_prompted, blocks):
        if block.language == _SESSION and block.kind == "code":
            parts.append(block.text)
            continue
        _close(whole, parts)
        whole.append(block)
    _close(whole, parts)
    return whole


def _close(blocks: list[Block], parts: list[str]) -> None:
    if parts:
        blocks.append(Block(kind="code", text="\n\n".join(parts), language=_SESSION))
        parts.clear()


def _prompted(block: Block) -> Block:
    """A Python session that was pasted bare: Markdown takes its prompts for three quotes inside each other."""
    if (
        block.kind == "text"
        and block.text.startswith(">>> ")
        and all(line.startswith(">>>") for line in block.text.split("\n"))
    ):
        first, _, rest = block.text.partition("\n")
        return Block(
            kind="code",
            text="\n".join([first, *(_after_prompt(line) for line in rest.split("\n") if rest)]),
            language=_SESSION,
        )
    return block


def _after_prompt(line: str) -> str:
    """Markdown repeats no prompt on output; whether a line had one cannot be told, so statements keep it."""
    words = _PROMPT.sub("", line)
    return (
        line
        if re.match(r"[A-Za-z_][\w.\[\]]*\s*(?:=|\(|\.)|(?:from|import|print|for|with|def|class)\b", words)
        else words
    )


def _take_apart(blocks: Sequence[Block]) -> _Texts:
    """Code blocks one by one, and the text between them in runs, so that a pasted trace may hold empty lines."""
    traces: list[FoundTrace] = []
    prose: list[str] = []
    run: list[str] = []
    code: list[Block] = []

    def close_run() -> None:
        if run:
            text = "\n\n".join(run)
            found = find_traces(text)
            traces.extend(found)
            prose.append(_without(text, found))
            run.clear()

    for block in blocks:
        if block.kind == "code":
            close_run()
            code.append(block)
            traces.extend(find_traces(block.text))
        else:
            run.append(block.text if block.kind == "text" else format_block(block))
    close_run()
    return _Texts("\n\n".join(text for text in prose if text.strip()), code, traces)


def _without(text: str, traces: Sequence[FoundTrace]) -> str:
    covered = {number for found in traces for number in range(found.start, found.end)}
    return "\n".join(line for number, line in enumerate(text.split("\n")) if number not in covered).strip()


def _sections(blocks: Sequence[Block]) -> list[Section]:
    """Each heading with all that stands under it, deeper headings included; `_No response_` counts as empty."""
    sections = []
    for number, block in enumerate(blocks):
        if block.kind != "heading":
            continue
        under: list[str] = []
        for following in blocks[number + 1 : number + 1 + _MAX_SECTION_BLOCKS]:
            if following.kind == "heading" and following.level <= block.level:
                break
            under.append(format_block(following))
        text = "\n\n".join(under)
        sections.append(Section(heading=block.text.strip(" :"), text="" if _UNANSWERED.match(text) else text))
        if len(sections) == _MOST_SECTIONS:
            break
    return sections


_MAX_SECTION_BLOCKS = 200
_MOST_SECTIONS = 100
