"""Rules of a CODEOWNERS file, as GitHub reads them, and the lines that cannot be read.

https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import re2  # type: ignore[import-untyped]
from pathspec.patterns.gitignore.base import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""In the order in which GitHub looks; the first one counts."""
MAX_BYTES = 3 * 1024 * 1024
"""GitHub does not load a larger file."""
_RULE = re.compile(r"(?P<pattern>(?:\\.|[^\s\\]){1,1000})(?:[ \t]+(?P<owners>.*))?")
_OTHER_SPACE = re.compile(r"[^\S \t]")
"""Nobody says whether GitHub separates words by it."""
_UNSUPPORTED = re.compile(r"[!\[]|\\#|.*[^\\]\[")
"""Negation, ranges of characters and an escaped `#`, which gitignore knows and CODEOWNERS does not."""
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_OWNER = re.compile(r"@[a-z\d][\w-]*(?:/[\w.-]+)?|[^@\s]+@[^@\s]+", re.ASCII | re.IGNORECASE)
"""A login, a team or an e-mail address."""


@dataclass(frozen=True, slots=True)
class OwnerRule:
    line: int
    """1-based."""
    pattern: str
    """Empty if it cannot be read: then it may match any file."""
    owners: tuple[str, ...] = ()
    """As they are written."""

    @property
    def is_readable(self) -> bool:
        """Whether GitHub takes the line. It skips one with an invalid pattern or owner."""
        return bool(self.pattern) and all(_OWNER.fullmatch(owner) for owner in self.owners)


class CodeOwners:
    """The rules of a file."""

    def __init__(self, text: str = "") -> None:
        self._rules = list(_parse(text))[::-1]

    def find_rule(self, path: str) -> OwnerRule | None:
        """Return the last rule that matches or, because it cannot be read, may match; None without one."""
        return next(self._iterate_matching(path), None)

    def find_owners(self, path: str) -> list[str]:
        """Return the users and teams that own a file on GitHub, without `@` and without e-mail addresses."""
        rule = next((rule for rule in self._iterate_matching(path) if rule.is_readable), None)
        return [owner[1:] for owner in rule.owners if owner.startswith("@")] if rule else []

    def _iterate_matching(self, path: str) -> Iterator[OwnerRule]:
        """Yield the rules for a path in order; one that cannot be read might be for it, and has no pattern."""
        for rule in self._rules:
            expression = _compile(rule.pattern)
            if expression is None:
                yield replace(rule, pattern="")
            elif _matches(expression, rule.pattern, path):
                yield rule


def _parse(text: str) -> Iterator[OwnerRule]:
    """Yield a rule for each line that is more than a comment; of one that cannot be read, with an empty pattern."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        words = _COMMENT.sub("", line.removesuffix("\r")).strip(" \t")
        rule = _RULE.fullmatch(words)
        if rule and not _OTHER_SPACE.search(words) and not _UNSUPPORTED.match(rule["pattern"]):
            yield OwnerRule(number, rule["pattern"], tuple((rule["owners"] or "").split()))
        elif words:
            yield OwnerRule(number, "")


def _matches(expression: Any, pattern: str, path: str) -> bool:
    found = expression.match(path)
    # `docs/*` owns the files in the folder. For gitignore it would match its subfolders too.
    return bool(found) and not (pattern.endswith("/*") and found.groupdict().get("ps_d"))


@cache
def _compile(pattern: str) -> Any:
    """Return the expression for a pattern; None if it is not valid, or can match nothing."""
    options = re2.Options()
    options.log_errors = False
    try:
        expression, _ = GitIgnoreSpecPattern.pattern_to_regex(pattern)
        return re2.compile(expression, options) if expression else None
    except (GitIgnorePatternError, ValueError, re2.error):
        return None
