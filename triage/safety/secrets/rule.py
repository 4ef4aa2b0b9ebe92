"""A rule that finds secrets of one form in a text.

RE2 does the matching, as in gitleaks: its time is linear for any text, and the text comes from anybody.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

ByteRange = tuple[int, int]

RE2_OPTIONS = re2.Options()
RE2_OPTIONS.log_errors = False
_MAX_LINE_CONTEXT = 300


@lru_cache(maxsize=1_000)
def _compile(pattern: str) -> Any:
    return re2.compile(pattern, RE2_OPTIONS)


@dataclass(frozen=True, slots=True)
class Exemption:
    pattern: str
    target: str = "secret"
    """Where the pattern is searched for: in the `secret`, in the whole `match`, or in the `line`."""

    def applies(self, data: bytes, secret: ByteRange, match: ByteRange) -> bool:
        span = secret if self.target == "secret" else match if self.target == "match" else _line_around(data, match)
        return _compile(self.pattern).search(data[slice(*span)]) is not None


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    pattern: str
    keywords: Sequence[str]
    """In lower case. A text without any of them is not searched."""
    group: int = 0
    """The group of the pattern that holds the secret; 0 stands for the first group that matched, or the whole match."""
    entropy: float = 0.0
    """A secret has more Shannon entropy than this, in bits per character."""
    path: str = ""
    """Pattern of the file paths that the rule is for; empty for all files."""
    exemptions: Sequence[Exemption] = ()
    """A match is no secret when one of them applies."""

    def find(self, data: bytes, path: str) -> Iterator[ByteRange]:
        """Yield byte ranges of the secrets. A text without a path is searched by the rules for certain files too."""
        if self.path and path and not _compile(self.path).search(path):
            return
        pattern = _compile(self.pattern)
        groups = range(1, pattern.groups + 1)
        for match in pattern.finditer(data):
            matched = (number for number in groups if match[number])
            start, end = match.span(self.group or next(matched, 0))
            if start < end and not self._is_exempt(data, (start, end), match.span()):
                yield start, end

    def _is_exempt(self, data: bytes, secret: ByteRange, match: ByteRange) -> bool:
        if self.entropy and _entropy(data[slice(*secret)].strip(b"\n")) <= self.entropy:
            return True
        return any(exemption.applies(data, secret, match) for exemption in self.exemptions)


def _line_around(data: bytes, match: ByteRange) -> ByteRange:
    # A line may be as long as its author likes; gitleaks looks at the whole of it.
    before, after = max(0, match[0] - _MAX_LINE_CONTEXT), match[1] + _MAX_LINE_CONTEXT
    start, end = data.rfind(b"\n", before, match[0]), data.find(b"\n", match[1], after)
    return start + 1 if start >= 0 else before, end if end >= 0 else after


def _entropy(text: bytes) -> float:
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def own_rule(name: str, keywords: str, pattern: str, *exempt: str) -> Rule:
    return Rule(name, pattern, keywords.split(), exemptions=[Exemption(exempt_pattern) for exempt_pattern in exempt])
