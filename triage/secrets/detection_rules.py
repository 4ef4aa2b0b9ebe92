"""The patterns of likely secrets: gitleaks' rules, described in `gitleaks.md`, and our own.

RE2 does the matching, as in gitleaks: its time is linear for any text, and the text comes from anybody.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import re2  # type: ignore[import-untyped]

ByteRange = tuple[int, int]

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_MAX_LINE_CONTEXT = 300
_PLACEHOLDER = r"^(?:[\[<{$%*(].*|x+|\.+|pass(?:word|wd)?|pwd|secret|token|user(?:name)?|my[_-]?pass(?:word)?)$"
"""What documentation writes in place of a password, and what programs fill in."""


@lru_cache(maxsize=1_000)
def _compile(pattern: str) -> Any:
    return re2.compile(pattern, _OPTIONS)


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
        """Byte ranges of the secrets. A text without a path is searched by the rules for certain files too."""
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


def _own(name: str, keywords: str, pattern: str, *exempt: str) -> Rule:
    return Rule(name, pattern, keywords.split(), exemptions=[Exemption(exempt_pattern) for exempt_pattern in exempt])


_OWN = (
    _own("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9_-]{36,}(?:\.[A-Za-z0-9_-]{10,})*"),
    _own("github fine-grained", "github_pat_", r"github_pat_[A-Za-z0-9_]{60,251}"),
    _own("gitlab", "glpat-", r"glpat-[A-Za-z0-9_.-]{20,100}"),
    _own("aws id", "akia asia abia acca", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    _own(
        "aws secret",
        "aws",
        r"(?i)\baws[\w .-]{0,30}key[\w .-]{0,10}['\"]?\s{0,5}[=:]{1,2}>?\s{0,5}['\"]?"
        r"([a-z0-9/+]{40})(?:[^a-z0-9/+=]|\z)",
    ),
    _own(
        "aws bedrock",
        "absk bedrock-api-key-",
        r"\b(?:ABSK[A-Za-z0-9+/]{100,}|bedrock-api-key-[A-Za-z0-9+/]{20,})={0,2}",
    ),
    _own("artifactory", "akcp cmvmdgtu", r"\b(?:AKCp[A-Za-z0-9]{69}|cmVmdGtu[A-Za-z0-9]{56})\b"),
    _own("sk", "sk-", r"\bsk-[A-Za-z0-9_-]{32,300}", r"^[a-z_-]+$"),
    _own(
        "stripe", "sk_live_ rk_live_ sk_test_ rk_test_ whsec_", r"\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{20,200}"
    ),
    _own("slack", "xoxb- xoxp- xoxa- xoxs- xoxe- xoxr- xoxc- xoxd-", r"xox[a-eprs]-[A-Za-z0-9%/+-]{10,400}"),
    _own("google", "aiza", r"\bAIza[A-Za-z0-9_-]{35}"),
    _own("google oauth", "gocspx- ya29.", r"\b(?:GOCSPX-[A-Za-z0-9_-]{20,60}|ya29\.[A-Za-z0-9_-]{20,800})"),
    _own("tavily", "tvly-", r"\btvly-[A-Za-z0-9_-]{20,100}"),
    _own("npm", "npm_", r"\bnpm_[A-Za-z0-9]{36}"),
    _own("pypi", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,400}"),
    _own("docker", "dckr_pat_ dckr_oat_", r"\bdckr_[op]at_[A-Za-z0-9_-]{20,60}"),
    _own("langsmith", "lsv2_", r"\blsv2_(?:pt|sk)_[a-z0-9_]{32,60}"),
    _own("groq, xai, hugging face", "gsk_ xai- hf_", r"\b(?:gsk_|xai-|hf_)[A-Za-z0-9]{30,120}\b"),
    _own("pem in base64", "ls0tls1crudjti", r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{60,}={0,2}"),
    _own(
        "authorization",
        "authorization",
        r"(?i)\bauthorization['\"]?\s{0,3}[=:,]\s{0,3}['\"]?(?:basic|bearer|token)\s{1,3}([a-z0-9+/=._~-]{16,1000})",
        r"(?i)^(?:your|my)?[a-z_.-]+$",
    ),
    _own(
        "password in an address",
        "://",
        r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s:/?#@'\"<>`]{0,100}:([^\s/?#@'\"<>`]{6,200})@[\w\[]",
        rf"(?i){_PLACEHOLDER}",
    ),
    _own(
        "connection string",
        "password= pwd= accountkey=",
        r"(?i);[ \t]{0,3}(?:password|pwd|accountkey)=([^;\s'\"<>`]{4,200})",
        rf"(?i){_PLACEHOLDER}",
    ),
    _own("signing key", "secret_key", r"\bSECRET_KEY(?:_BASE)?['\"]?\s{0,5}[=:]\s{0,5}['\"]([^'\"\s]{40,150})['\"]"),
)
"""Prefixes that services give their keys. Examples from documentation match too: masking them costs nothing."""


def _read_gitleaks() -> Iterator[Rule]:
    config = json.loads(Path(__file__).with_name("gitleaks.json").read_text(encoding="utf-8"))
    common = Exemption(config["exempt"])
    for rule in config["rules"]:
        own = [Exemption(**exemption) for exemption in rule.pop("exemptions", ())]
        yield Rule(**rule, exemptions=[common, *own])


RULES = (*_OWN, *_read_gitleaks())
"""Read at import: an event loop must not wait for a disk."""
_KEYWORDS = tuple(dict.fromkeys(chain.from_iterable(rule.keywords for rule in RULES)))
_RULES_BY_KEYWORD = [[number for number, rule in enumerate(RULES) if word in rule.keywords] for word in _KEYWORDS]
_ANY_KEYWORD = re2.Set.SearchSet(_OPTIONS)
for _word in _KEYWORDS:
    _ANY_KEYWORD.Add(re2.escape(_word))
_ANY_KEYWORD.Compile()


def find_secrets(data: bytes, path: str) -> Iterator[ByteRange]:
    """Byte ranges of likely secrets in UTF-8 text, in no order; they may overlap. `path` may be empty."""
    keywords = _ANY_KEYWORD.Match(data.lower()) or ()
    for number in sorted({rule for keyword in keywords for rule in _RULES_BY_KEYWORD[keyword]}):
        yield from RULES[number].find(data, path)
