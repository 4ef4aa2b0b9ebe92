"""Judges what stands in a repository after a job: with real git, and none of the code that it judges."""

import ast
import re
import subprocess
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from testing.checkouts.git_repositories import ENVIRONMENT

REF = re.compile(r"refs/triage/proposals/7/[0-9a-f]+")
MAX_FILES, MAX_LINES = 20, 3_000
_STEERING = re.compile(
    r"(?:^|/)(?:\.|(?:code)?owners$|agents(?:\.\w+)*\.md$|jenkinsfile|azure-pipelines|git~\d)"
    r"|\.(?:json|ya?ml|toml)$",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"\.(?:lock|png|pem)$|_pb2\.py$|(?:^|/)(?:go\.sum|package-lock\.json|vendor/|node_modules/)|made\.py$", re.I
)
_ADDRESS = re.compile(r"(?:\b[a-z][a-z0-9+.-]+:(?:\\?/){2}|\bwww\.(?=\w+\.))([^\s/\\\"'`<>]+)", re.IGNORECASE)
_NOBODYS_HOSTS = (
    "example.com",
    "example.org",
    "example.net",
    ".test",
    ".example",
    ".invalid",
    "localhost",
    "127.0.0.1",
)
_COMMAND = re.compile(
    r"^\W*(?:breaking[\s_\u200b-]*change|[\w-]+(?:\(\w*\))?!?\s*:|(?:fixup|squash|amend)!)|semver:|skip-checks:|\*NO_CI|[#@]\w|\[[^]]*\]"
    r"|\bGH-\d",
    re.IGNORECASE | re.MULTILINE,
)
_JOINERS = "\u200d\ufe0f"
"""Parts of emoji."""


def run_git(folder: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *words], env=ENVIRONMENT, check=True, capture_output=True).stdout


def judge_stored(folder: Path, base: str, patch: Mapping[str, Any], allowed: Sequence[str]) -> Iterator[str]:
    """Yields what is wrong with the proposal that stands in the repository; `allowed` are prefixes of paths."""
    refs = dict(line.split()[::-1] for line in run_git(folder, "show-ref").decode().splitlines())
    found = {name: commit for name, commit in refs.items() if name != "refs/heads/main"}
    if refs.get("refs/heads/main") != base:
        yield "main has moved"
    if len(found) != 1 or not all(REF.fullmatch(name) for name in found):
        yield f"refs {sorted(found)}"
        return
    (head,) = found.values()
    is_split = bool(patch["tests"] and patch["changes"])
    steps = [("tests", patch["tests"])] if is_split else []
    commits = run_git(folder, "rev-list", "--reverse", f"{base}..{head}").decode().split()
    if len(commits) != len(steps) + 1:
        yield f"{len(commits)} commits"
        return
    parent, last = base, patch["changes"] if is_split else [*patch["changes"], *patch["tests"]]
    for commit, (kind, versions) in zip(commits, [*steps, ("changes", last)], strict=True):
        if run_git(folder, "rev-parse", f"{commit}^@").decode().split() != [parent]:
            yield "a commit with other parents"
        yield from _judge_commit(folder, parent, commit, {one["path"]: one["text"] for one in versions})
        if kind == "tests":
            paths = [path for path, *_ in _list_changed(folder, parent, commit)]
            yield from (f"no test in the first commit: {path}" for path in paths if "test" not in path)
            hidden = [
                path for path, *_, blob in _list_changed(folder, parent, commit) if blob != _find(folder, head, path)
            ]
            yield from (f"only the first commit has this: {path}" for path in hidden)
        yield from _judge_message(folder, commit)
        parent = commit
    yield from _judge_patch(folder, base, head, allowed)
    message = run_git(folder, "log", "-1", "--format=%B", head).decode()
    if message.count("Triage-Issue-Text:") != 1 or message.count("Triage-Issue: 7\n") != 1:
        yield "trailers of somebody else"
    if subprocess.run(["git", "-C", str(folder), "fsck", "--strict"], env=ENVIRONMENT, capture_output=True).returncode:  # noqa: PLW1510
        yield "git fsck finds an error"


def _find(folder: Path, commit: str, path: str) -> str:
    return run_git(folder, "rev-parse", f"{commit}:{path}").decode().strip()


def _judge_message(folder: Path, commit: str) -> Iterator[str]:
    """What git, Conventional Commits, release tools, GitHub and CI services would read as a command."""
    message = run_git(folder, "log", "-1", "--format=%B", commit).decode()
    known = re.sub(r"^(?:Triage-[A-Z][a-zA-Z-]*: [0-9a-f]+$|\[#7\] (?:Add a failing test: )?)", "", message, flags=re.M)
    yield from (f"a command in the message: {found[0][:60]!r}" for found in _COMMAND.finditer(known))


def _list_changed(folder: Path, parent: str, commit: str) -> list[tuple[str, str, str, str]]:
    """Path, modes before and after, and object id of each file that changed."""
    fields = run_git(folder, "diff-tree", "-r", "-z", "--raw", "--no-renames", parent, commit).decode().split("\0")[:-1]
    heads = [head.removeprefix(":").split() for head in fields[::2]]
    return [(path, head[0], head[1], head[3]) for head, path in zip(heads, fields[1::2], strict=True)]


def _judge_commit(folder: Path, parent: str, commit: str, texts: Mapping[str, str]) -> Iterator[str]:
    changed = {path: rest for path, *rest in _list_changed(folder, parent, commit)}
    if set(changed) != set(texts):
        yield f"other files than in the patch: {sorted(set(changed) ^ set(texts))}"
    for path, (before, after, blob) in changed.items():
        if after != (before if before != "000000" else "100644"):
            yield f"mode {before} became {after}: {path}"
        if after.startswith("100") and run_git(folder, "cat-file", "blob", blob) != texts.get(path, "").encode():
            yield f"another text than in the patch: {path}"


def _judge_patch(folder: Path, base: str, head: str, allowed: Sequence[str]) -> Iterator[str]:
    changed = _list_changed(folder, base, head)
    counts = run_git(folder, "diff", "--numstat", "--no-renames", base, head).decode().splitlines()
    lines = sum(int(number) for row in counts for number in row.split("\t")[:2] if number != "-")
    if len(changed) > MAX_FILES or lines > MAX_LINES:
        yield f"{len(changed)} files, {lines} lines"
    for path, before, _, blob in changed:
        yield from _judge_path(path, allowed)
        old = b"" if before == "000000" else run_git(folder, "cat-file", "blob", f"{base}:{path}")
        yield from (
            f"{problem}: {path}" for problem in _judge_text(path, old, run_git(folder, "cat-file", "blob", blob))
        )


def _judge_path(path: str, allowed: Sequence[str]) -> Iterator[str]:
    if not path.startswith(tuple(allowed)) and not ("" in allowed and "/" not in path):
        yield f"outside the modules: {path}"
    if _STEERING.search(path) or _MADE.search(path) or "migrations/" in path:
        yield f"a file that no patch may change: {path}"
    parts = path.split("/")
    if len(path) > 200 or any(
        part in ("", ".", "..") or part != part.strip(". \t") for part in parts if part[:1] != "_"
    ):
        yield f"an odd name: {path}"
    if any(unicodedata.category(char)[0] == "C" or char in '\\:*?"<>|' for char in path):
        yield f"an odd character in {path}"
    if unicodedata.normalize("NFC", path) != path:
        yield f"decomposed letters in {path}"


def _judge_text(path: str, old: bytes, new: bytes) -> Iterator[str]:
    if b"\0" in new:
        yield "NUL"
    text, before = new.decode(), old.decode()
    is_crlf = b"\r\n" in old
    if new.count(b"\r") != (new.count(b"\n") if is_crlf else 0):
        yield "other line ends"
    hidden = Counter(filter(_is_hidden, text)) - Counter(filter(_is_hidden, before))
    if set(hidden) - set(_JOINERS if any(ord(char) > 0x2190 for char in text) else ""):
        yield f"hidden characters {[hex(ord(char)) for char in hidden]}"
    for address in _ADDRESS.finditer(text):
        host = re.split(r"[:,;)\]}]", address[1].rpartition("@")[2])[0].rstrip(".").lower()
        if address[0] not in before and not host.endswith(_NOBODYS_HOSTS) and host not in ("", "["):
            yield f"a new address {address[0][:80]}"
    if path.endswith(".py") and _parses(before) and not _parses(text):
        yield "a syntax error"


def _is_hidden(char: str) -> bool:
    return char not in "\n\t\r" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")


def _parses(text: str) -> bool:
    try:
        ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError):
        return False
    return True
