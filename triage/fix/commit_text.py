"""Messages and branches of a proposal's commits, and what is read back from them."""

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from triage.domain.proposal import (
    MAX_REVISIONS,
    CommitId,
    Patch,
    PatchCommit,
    PatchedFile,
    Proposal,
    TextFile,
)
from triage.domain.value import Value
from triage.safety.active_content import format_plain_line

if TYPE_CHECKING:
    from triage.fix.base_files import BaseFiles

MAX_SUBJECT_CHARS = 72
MAX_CAUSE_CHARS = 1_000
_ACTIVE = re.compile(r"[#@\[\]]|\bGH-(?=\d)|\b[0-9a-f]{7,40}\b|\S*://\S*", re.IGNORECASE)
"""What GitHub or a CI service would act on: references, mentions, commits, `[skip ci]`, links."""
_BREAKING = re.compile(r"\bbreaking[\s_-]*change", re.IGNORECASE)
"""Release tools read it at the start of any line, also without a colon, and make a major version of it."""
_AUTOSQUASH = re.compile(r"(fixup|squash|amend)!+", re.IGNORECASE)
_COLON = re.compile(r"\s*:\s*")
"""What makes a word a command: `Release-As: 9.0.0`, `Signed-off-by: x`, `skip-checks: true`, `+semver:major`. A message
is wrapped here, and again where somebody squashes commits: each word may begin a line."""
_COMMAND = re.compile(rf"[#@\[\]:\r]|\bGH-\d|{_BREAKING.pattern}|{_AUTOSQUASH.pattern}", re.IGNORECASE)
"""What no text that is written here has."""
MAX_POINT_CHARS = 200
"""Of a file's description, and of the words that a revision was made with."""
_UNVERIFIED = "Look at - "
_TEST_SUBJECT = "Add a failing test: "
_TEST_BODY = "The test fails on this commit and passes with the next one."
_MESSAGE = re.compile(
    rf"\[#(?P<issue>[1-9][0-9]{{0,9}})\] (?P<subject>[^\n]{{1,{MAX_SUBJECT_CHARS}}})\n"
    r"(?P<body>\n(?:[^\n]+\n)+)?"
    r"\nTriage-Issue: (?P=issue)"
    r"\nTriage-Issue-Text: (?P<issue_text_hash>[0-9a-f]{16})"
    rf"\nTriage-Revision: (?P<revision>[0-{MAX_REVISIONS}])"
    r"\nTriage-Commits: (?P<commits>[12])"
)


class CommitFacts(Value):
    """What GitHub says of one commit."""

    sha: CommitId
    parents: list[CommitId]
    message: str
    committed_at: datetime


def format_subject(text: str) -> str:
    """Return a model's words as one line that starts nothing on GitHub."""
    line = _format_safe(text)
    return line if len(line) <= MAX_SUBJECT_CHARS else line[: MAX_SUBJECT_CHARS - 1].rstrip() + "…"


def _format_safe(text: str) -> str:
    line = format_plain_line(_ACTIVE.sub(" ", text))  # without invisible characters, which could hide the rest
    line = " ".join(_COLON.sub(" - ", line.replace("::", ".")).split())
    return _AUTOSQUASH.sub(r"\1", _BREAKING.sub("incompatible change", line))


def write_messages(patch: Patch, *, is_local: bool = False) -> tuple[str, str]:
    """Return the messages of the commit with the test and of the commit with the patch.

    The second one says what was wrong, what changes in each file, what a reviewer should look at, and after which
    words it was revised: in one paragraph, because more than one is another commit's message. The issue's number is
    written without words such as "fixes", with which GitHub would close the issue. Trailers have what `parse_proposal`
    reads back; of a local repository nobody does.
    """
    prefix = f"[#{patch.issue}] " if patch.issue else ""
    subject = format_subject(patch.summary) or "Proposed change"
    points = [
        f"- {_format_safe(file.path)} - {text}"
        for file in patch.changes
        if (text := _format_safe(file.description)[:MAX_POINT_CHARS])
    ]
    points += [f"- {_UNVERIFIED}{text}" for one in patch.unverified if (text := _format_safe(one)[:MAX_POINT_CHARS])]
    words = _format_safe(patch.revision_words)[:MAX_POINT_CHARS]
    revised = f"Revision {patch.revision}, after a maintainer's words - {words}" if words else ""
    body = [_format_safe(patch.root_cause or "")[:MAX_CAUSE_CHARS], *dict.fromkeys(points), revised]
    lines = "".join(f"{_wrap(part)}\n" for part in body if part)
    test_message = f"{prefix}{_TEST_SUBJECT}{subject}\n\n{_TEST_BODY}\n"
    trailers = (
        f"\nTriage-Issue: {patch.issue or 0}\nTriage-Issue-Text: {patch.issue_text_hash}\n"
        f"Triage-Revision: {patch.revision}\nTriage-Commits: {1 + patch.has_test_commit}\n"
    )
    return test_message, f"{prefix}{subject}\n" + (f"\n{lines}" if lines else "") + ("" if is_local else trailers)


def _wrap(text: str) -> str:
    return textwrap.fill(
        text,
        MAX_SUBJECT_CHARS,
        subsequent_indent="  " if text.startswith("- ") else "",
        break_long_words=False,  # the end of a word at the start of a line could be a command
        break_on_hyphens=False,
    )


class CommitSummary(NamedTuple):
    subject: str = ""
    cause: str = ""
    points: Sequence[str] = ()
    """What changes in each file, and after which words it was revised."""
    unverified: Sequence[str] = ()
    """What the model could not check."""


def read_summary(message: str) -> CommitSummary:
    """Return what `write_messages` said, without its line breaks; nothing of any other message.

    That is `[#7] <subject>`, and below it the cause, a line `- <path> - <what changes>` for each file, others that
    begin with `- Look at - `, and `Revision <n>, ...`: one paragraph, before the trailers.
    """
    found = _MESSAGE.fullmatch(normalize_message(message))
    if found is None:
        return CommitSummary()
    text = re.sub(r"'([\w.]+)'", r"`\1`", found["body"] or "")  # as the model wrote it
    cause, *points = re.split(r"\n(?:- |(?=Revision \d))", text)
    points = [" ".join(point.split()) for point in points]
    unverified = [point.removeprefix(_UNVERIFIED) for point in points if point.startswith(_UNVERIFIED)]
    points = [point for point in points if not point.startswith(_UNVERIFIED)]
    return CommitSummary(found["subject"], " ".join(cause.split()), points, unverified)


def normalize_message(message: str) -> str:
    """Return a message as all of git's and GitHub's forms of it compare: they differ in line ends and the last one."""
    return message.replace("\r\n", "\n").rstrip("\n")


def _is_safe(subject: str, body: str) -> bool:
    # Each part alone: one may end in `breaking`, and the next begin with `change`.
    return not any(map(_COMMAND.search, [subject, *body.split("\n- ")]))


def parse_proposal(head: CommitFacts, parent: CommitFacts | None = None) -> Proposal | None:
    """Return the proposal of a commit as `write_messages` describes it; None for any other commit.

    A message with anything else, such as a footer for release tools, is another commit's. `parent` is the first
    parent of `head`. It is needed for a patch of two commits.
    """
    found = _MESSAGE.fullmatch(normalize_message(head.message))
    if found is None or len(head.parents) != 1 or not _is_safe(found["subject"], found["body"] or ""):
        return None
    test_commit, base = None, head.parents[0]
    if found["commits"] == "2":
        if parent is None or parent.sha != base or len(parent.parents) != 1:
            return None
        expected = f"[#{found['issue']}] {_TEST_SUBJECT}{found['subject']}\n\n{_TEST_BODY}"
        if normalize_message(parent.message) != expected:
            return None
        test_commit, base = parent.sha, parent.parents[0]
    return Proposal(
        issue=int(found["issue"]),
        issue_text_hash=found["issue_text_hash"],
        created_at=head.committed_at.replace(microsecond=0),
        base=base,
        test_commit=test_commit,
        commit=head.sha,
        revision=int(found["revision"]),
    )


MAX_SLUG_CHARS = 40


def make_branch_name(number: int | None, title: str) -> str:
    """Return `triage/<issue>-<slug>`, with ASCII letters, digits and hyphens; `triage/<slug>` without a number.

    The slug ends with a whole word, unless the first one is too long.
    """
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", " ", ascii_title).strip()
    slug = textwrap.shorten(words, MAX_SLUG_CHARS, placeholder="") or words[:MAX_SLUG_CHARS].split(" ")[0] or "fix"
    slug = slug.replace(" ", "-")
    return f"triage/{number}-{slug}" if number else f"triage/{slug}"


def build_commits(patch: Patch, files: "BaseFiles", *, is_local: bool = False) -> list[PatchCommit]:
    """Return what is stored of a patch: the tests and then all else, or everything in one commit.

    Files have the modes that they had. Messages for a local repository lack what a later job would read back.
    """

    def build(patched: Sequence[PatchedFile], message: str) -> PatchCommit:
        bases = {one.path: files.read(one.path) for one in patched}
        modes = {path: base.mode for path, base in bases.items() if isinstance(base, TextFile)}
        texts = {one.path: TextFile(text=one.text, mode=modes.get(one.path, "100644")) for one in patched}
        return PatchCommit(files=texts, message=message)

    test_message, message = write_messages(patch, is_local=is_local)
    if not patch.has_test_commit:
        return [build(patch.files, message)]
    return [build(patch.tests, test_message), build(patch.changes, message)]
