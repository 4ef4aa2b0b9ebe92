"""Finds what a report says that its example prints: blocks after it, or a value in a sentence."""

import ast
import re

from triage.domain.issue import CodeBlock, ParsedIssue
from triage.issue.text_signs import find_sentences
from triage.reproduce.example import python_code

WISH = re.compile(
    r"(?i)\b(?:should|shouldn't|expect\w*|instead|ought|would be|better|rather|must|proper|propose|want|suppress\w*|"
    r"fix(?:ed|es)?)\b"
)
"""A sentence that says what ought to happen, not what does."""
_FENCED = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<text>.*?)\n {0,3}(?P=fence)", re.M | re.S)
_PRINTED = re.compile(r"(?i)\b(?:actual|prints?|printed|outputs?|outcomes?|results?|returns?|gives?|yields?|shows?)\b")
_OTHER_TIME = re.compile(r"(?i)\b(?:earlier|older|previous\w*|before|used to|works?|worked|correct\w*|desired|after)\b")
_VALUE = re.compile(
    r"(?i)\b(?:results? in|returns|prints|outputs?(?: is)?|gives|evaluates to)\s*:?\s*`([^`\n]{1,200})`"
)
_CODE = re.compile(r"^(?:>>>|In ?\[|import |from \w+ import )", re.M)
_MAX_SAID_CHARS = 120
"""Of what stands before a block: its heading, and the end of the sentence."""


def find_printed_blocks(parsed: ParsedIssue) -> list[CodeBlock]:
    """Return the blocks after the first of which the words before them say that it prints them.

    Without words between, a block that calls nothing is taken for it.
    """
    printed, end = set[str](), 0
    for block in _FENCED.finditer(parsed.body):
        words, is_first = parsed.body[end : block.start()].split(), not end
        said, text, end = " ".join(words)[-_MAX_SAID_CHARS:], block["text"], block.end()
        is_told = _PRINTED.search(said) and not WISH.search(said) and not _OTHER_TIME.search(said)
        if (is_told or (not said and not _calls(text))) and not is_first and not _CODE.search(text):
            printed.add("".join(text.split()))
    # Those of `code` have the blanks at the ends of lines.
    return [block for block in parsed.code if "".join(block.text.split()) in printed]


def _calls(text: str) -> bool:
    tree = python_code.parse(text)
    return tree is not None and any(isinstance(node, ast.Call | ast.Assign) for node in ast.walk(tree))


def find_printed_values(parsed: ParsedIssue) -> list[str]:
    """Return the values of which a sentence says that they are the result."""
    sentences = [one for one in find_sentences(parsed.prose) if not WISH.search(one) and not _OTHER_TIME.search(one)]
    return [match[1] for one in sentences for match in _VALUE.finditer(one)][:1]
