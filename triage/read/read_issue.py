"""Reads an issue, or a README, into a `ParsedIssue`. Takes time linear in the text, and raises nothing for any text."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from triage.base.text import count_open
from triage.domain.issue import Attachment, CodeBlock, Issue, IssueComment, IssueSection, ParsedIssue
from triage.read.code_names import find_identifiers, find_paths
from triage.read.issue_forms import find_template_comments
from triage.read.reporter_language import detect_reporter_language
from triage.read.traces.error_messages import find_error_messages
from triage.read.traces.traces import FoundTrace, find_traces
from triage.read.versions.versions import find_versions
from triage.read.visible_text.html_page import PICTURE
from triage.read.visible_text.visible_text import (
    Block,
    VisiblePage,
    extract_visible_line,
    extract_visible_page,
    format_block,
)

_SESSION = "pycon"
AUTHOR_COMMENT_HEADING = "Comment by the reporter"
ATTACHMENT_HEADING = "Attachment"
_MAX_COMMENT_CHARS = 65_536
"""Of all comments by the author together."""
_MAX_SECTION_BLOCKS = 200
_MAX_SECTIONS = 100
_NO_RESPONSE = re.compile(r"^[_*\s]*no response[_*\s.]*$", re.I)
_PROMPT = re.compile(r"^>>> ?", re.M)
_STATEMENT = re.compile(
    r"(?!(?:True|False|None)\b)[A-Za-z_][\w.\[\]]*\s*(?:=|\(|\.)|(?:from|import|print|for|with|def|class)\b"
)


def read_issue(issue: Issue) -> ParsedIssue:
    """Return what a person sees in the issue, in its author's comments and in what they attached, taken apart."""
    title, invisible = extract_visible_line(issue.title)
    pages = [extract_visible_page(issue.body), *read_author_comments(issue)]
    blocks = _merge_sessions([*_list_blocks(pages, issue.attachments)])
    prose, code_blocks, traces = _separate_code(blocks)
    sections = _find_sections(blocks)
    code = [block.text for block in code_blocks]
    body = "\n\n".join(format_block(block) for block in blocks)
    return ParsedIssue(
        title=title,
        body=body,
        prose=prose,
        code=[CodeBlock(language=block.language, text=block.text) for block in code_blocks],
        traces=[found.trace for found in traces],
        error_messages=find_error_messages(title, [*code, prose], traces, sections),
        identifiers=find_identifiers(title, prose, code),
        paths=find_paths([title, prose, *code]),
        versions=find_versions(f"{title}\n{prose}"),
        sections=sections,
        links=list(dict.fromkeys(link for page in pages for link in page.links)),
        hidden_fragments=invisible + sum(page.hidden_fragments for page in pages),
        language=detect_reporter_language(title, prose),
    )


def read_issue_and_thread(issue: Issue) -> tuple[ParsedIssue, list[IssueComment]]:
    """Read the issue and its thread as people see them on the page.

    Returns:
        The parsed issue, which includes the author's own comments, counts all hidden fragments, and has the traces of
        everybody; and the comments of other people, of a long thread the newest.
    """
    parsed = read_issue(issue)
    others = [
        comment
        for comment in shorten_thread(issue.thread, issue.author)
        if not comment.by_bot and not comment.ours and comment.author != issue.author
    ]
    whole = [comment for comment in others if not comment.is_shortened]
    pages = [extract_visible_page(comment.body) for comment in whole]
    update: dict[str, Any] = {
        "hidden_fragments": parsed.hidden_fragments + sum(page.hidden_fragments for page in pages),
        "comments_left_out": len(others) - len(whole),
    }
    thread = [comment.model_copy(update={"body": page.text}) for comment, page in zip(whole, pages, strict=True)]
    of_comments = [
        found.trace.model_copy(update={"commenter": comment.author})
        for comment, page in zip(whole, pages, strict=True)
        for found in _separate_code(_merge_sessions(page.blocks))[2]
        if found.trace.language != "diagnostic"
    ]
    update["traces"] = [*parsed.traces, *of_comments]
    return parsed.model_copy(update=update), thread


def read_author_comments(issue: Issue) -> list[VisiblePage]:
    """Return comments by the issue's author, oldest first, at most 65,536 characters of them."""
    pages: list[VisiblePage] = []
    chars_left = _MAX_COMMENT_CHARS
    for comment in issue.thread:
        is_by_author = comment.author == issue.author and not comment.by_bot and not comment.ours
        if not issue.author or not is_by_author or comment.is_shortened or not comment.body.strip():
            continue
        chars_left -= len(comment.body)
        if chars_left < 0:
            break
        pages.append(extract_visible_page(comment.body))
    return pages


def count_template_comments(issue: Issue, templates: Sequence[str]) -> int:
    """Return how many of the hidden fragments of the body are comments of the repository's issue templates."""
    known = find_template_comments(templates)
    return sum(comment in known for comment in extract_visible_page(issue.body).comments) if known else 0


def _list_blocks(pages: Sequence[VisiblePage], attachments: Sequence[Attachment]) -> Iterator[Block]:
    """Yield the blocks of the issue, of its author's comments, and of what they attached, below a heading each."""
    yield from pages[0].blocks
    texts = [[Block(kind="code", text=one.text)] for one in attachments if one.text]
    for heading, parts in ((AUTHOR_COMMENT_HEADING, [page.blocks for page in pages[1:]]), (ATTACHMENT_HEADING, texts)):
        for blocks in filter(None, parts):
            yield Block(kind="heading", text=heading, level=1)
            yield from blocks


def _merge_sessions(blocks: Sequence[Block]) -> list[Block]:
    """Return Python sessions as code; parts with only an empty line between them are one session."""
    merged: list[Block] = []
    for is_session, run in groupby(
        map(_restore_session, blocks), key=lambda block: block.kind == "code" and block.language == _SESSION
    ):
        if is_session:
            merged.append(Block(kind="code", text="\n\n".join(block.text for block in run), language=_SESSION))
        else:
            merged.extend(run)
    return merged


def _restore_session(block: Block) -> Block:
    """Return as code a session without a fence: Markdown takes its prompts for nested quotes."""
    lines = block.text.split("\n")
    if block.kind != "text" or not lines[0].startswith(">>> ") or not all(line.startswith(">>>") for line in lines):
        return block
    words = [_PROMPT.sub("", line) for line in lines]
    covered = {number for found in find_traces("\n".join(words)) for number in range(found.start, found.end)}
    # Markdown puts the marks of a quote on every line; only statements had a prompt, and what they open had none.
    restored, depth = list[str](), 0
    for number, (line, word) in enumerate(zip(lines, words, strict=True)):
        is_prompt = number == 0 or (depth <= 0 and _STATEMENT.match(word) and number not in covered)
        depth = count_open(word) + max(0, depth) if is_prompt or depth > 0 else 0
        restored.append(line if is_prompt else word)
    return Block(kind="code", text="\n".join(restored), language=_SESSION)


def _separate_code(blocks: Sequence[Block]) -> tuple[str, list[Block], list[FoundTrace]]:
    """Prose, code and the traces in both. A pasted trace may have empty lines, so text between code is joined."""
    traces: list[FoundTrace] = []
    prose: list[str] = []
    code: list[Block] = []
    for is_code, run in groupby(blocks, key=lambda block: block.kind == "code"):
        if is_code:
            for block in run:
                code.append(block)
                traces += find_traces(block.text)
        else:
            text = "\n\n".join(block.text if block.kind == "text" else format_block(block) for block in run)
            found_here = find_traces(text)
            traces += found_here
            covered = {number for found in found_here for number in range(found.start, found.end)}
            lines = (line for number, line in enumerate(text.split("\n")) if number not in covered)
            prose.append("\n".join(lines).replace(PICTURE, "").strip())
    return "\n\n".join(text for text in prose if text.strip()), code, traces


def _find_sections(blocks: Sequence[Block]) -> list[IssueSection]:
    """Return each heading with the text below it, deeper headings included; `_No response_` counts as empty."""
    sections = []
    for number, block in enumerate(blocks):
        if block.kind != "heading":
            continue
        below: list[str] = []
        for following in blocks[number + 1 : number + 1 + _MAX_SECTION_BLOCKS]:
            if following.kind == "heading" and following.level <= block.level:
                break
            below.append(format_block(following))
        text = "\n\n".join(below).replace(PICTURE, "").strip()
        sections.append(IssueSection(heading=block.text.strip(" :"), text="" if _NO_RESPONSE.match(text) else text))
        if len(sections) == _MAX_SECTIONS:
            break
    return sections


MAX_COMMENTS = 100
MAX_CHARS = 262_144
"""Four of the longest comments that GitHub takes. Reading them takes two seconds at most (measured)."""
SHORTENED_CHARS = 1_000
"""A command stands on the first line."""


def shorten_thread(thread: Sequence[IssueComment], reporter: str) -> list[IssueComment]:
    """Return the thread, whose order is oldest first, with the newest comments whole.

    At most `MAX_COMMENTS` comments with `MAX_CHARS` by the reporter stay whole, as many by all other people together,
    and all of ours. Of the rest the first characters stay. A bot's comments are not read, so they need none.
    """
    room = {True: (MAX_COMMENTS, MAX_CHARS), False: (MAX_COMMENTS, MAX_CHARS)}
    kept: list[IssueComment] = []
    for comment in reversed(thread):
        is_reporter = comment.author == reporter
        number, chars = room[is_reporter]
        if comment.ours or comment.is_shortened:
            kept.append(comment)
        elif not comment.by_bot and number and len(comment.body) <= chars:
            room[is_reporter] = number - 1, chars - len(comment.body)
            kept.append(comment)
        else:
            update = {"body": comment.body[:SHORTENED_CHARS], "is_shortened": True}
            kept.append(comment.model_copy(update=update))
    return kept[::-1]


_README = re.compile(r"readme(?:\.(?:md|rst|txt|adoc))?", re.I)
_MAX_LINES = 200


def detect_project_language(paths: Sequence[str], read_lines: Callable[[str], list[str] | None]) -> str:
    """Return the language of the README in the root: ISO 639-1, for Chinese with its script. English without one."""
    path = next((path for path in paths if _README.fullmatch(path)), None)
    lines = read_lines(path) if path else None
    return read_issue(Issue(title="", body="\n".join((lines or [])[:_MAX_LINES]))).language
