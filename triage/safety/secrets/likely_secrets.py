"""Replaces likely secrets, before a text is cut, embedded, shown, sent or published.

The patterns are gitleaks' rules, described in `gitleaks.md`, and our own.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import re2  # type: ignore[import-untyped]

from triage.safety.secrets.secret_rules import (
    CODE_RULES,
    CONTEXT_RULES,
    RE2_OPTIONS,
    ByteRange,
    Exemption,
    Rule,
    own_rule,
)

_PLACEHOLDER = r"^(?:[\[<{$%*(].*|x+|\.+|pass(?:word|wd)?|pwd|secret|token|user(?:name)?|my[_-]?pass(?:word)?)$"
"""What documentation writes in place of a password, and what programs fill in."""

_OWN = (
    own_rule("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9_-]{36,}(?:\.[A-Za-z0-9_-]{10,})*"),
    own_rule("github fine-grained", "github_pat_", r"github_pat_[A-Za-z0-9_]{60,251}"),
    own_rule("gitlab", "glpat-", r"glpat-[A-Za-z0-9_.-]{20,100}"),
    own_rule("aws id", "akia asia abia acca", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    own_rule(
        "aws secret",
        "aws",
        r"(?i)\baws[\w .-]{0,30}key[\w .-]{0,10}['\"]?\s{0,5}[=:]{1,2}>?\s{0,5}['\"]?"
        r"([a-z0-9/+]{40})(?:[^a-z0-9/+=]|\z)",
    ),
    own_rule(
        "aws bedrock",
        "absk bedrock-api-key-",
        r"\b(?:ABSK[A-Za-z0-9+/]{100,}|bedrock-api-key-[A-Za-z0-9+/]{20,})={0,2}",
    ),
    own_rule("artifactory", "akcp cmvmdgtu", r"\b(?:AKCp[A-Za-z0-9]{69}|cmVmdGtu[A-Za-z0-9]{56})\b"),
    own_rule("sk", "sk-", r"\bsk-[A-Za-z0-9_-]{32,300}", r"^[a-z_-]+$"),
    own_rule(
        "stripe", "sk_live_ rk_live_ sk_test_ rk_test_ whsec_", r"\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{20,200}"
    ),
    own_rule("slack", "xoxb- xoxp- xoxa- xoxs- xoxe- xoxr- xoxc- xoxd-", r"xox[a-eprs]-[A-Za-z0-9%/+-]{10,400}"),
    own_rule("google", "aiza", r"\bAIza[A-Za-z0-9_-]{35}"),
    own_rule("google oauth", "gocspx- ya29.", r"\b(?:GOCSPX-[A-Za-z0-9_-]{20,60}|ya29\.[A-Za-z0-9_-]{20,800})"),
    own_rule("tavily", "tvly-", r"\btvly-[A-Za-z0-9_-]{20,100}"),
    own_rule("npm", "npm_", r"\bnpm_[A-Za-z0-9]{36}"),
    own_rule("pypi", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,400}"),
    own_rule("docker", "dckr_pat_ dckr_oat_", r"\bdckr_[op]at_[A-Za-z0-9_-]{20,60}"),
    own_rule("langsmith", "lsv2_", r"\blsv2_(?:pt|sk)_[a-z0-9_]{32,60}"),
    own_rule("groq, xai, hugging face", "gsk_ xai- hf_", r"\b(?:gsk_|xai-|hf_)[A-Za-z0-9]{30,120}\b"),
    own_rule("pem in base64", "ls0tls1crudjti", r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{60,}={0,2}"),
    own_rule(
        "authorization",
        "authorization",
        r"(?i)\bauthorization['\"]?\s{0,3}[=:,]\s{0,3}['\"]?(?:basic|bearer|token)\s{1,3}([a-z0-9+/=._~-]{16,1000})",
        r"(?i)^(?:your|my)?[a-z_.-]+$",
    ),
    own_rule(
        "password in an address",
        "://",
        r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s:/?#@'\"<>`]{0,100}:([^\s/?#@'\"<>`]{6,})@[\w\[]",
        rf"(?i){_PLACEHOLDER}",
    ),
    own_rule(
        "connection string",
        "password= pwd= accountkey= sharedaccesskey=",
        r"(?i);[ \t]{0,3}(?:password|pwd|accountkey|sharedaccesskey)=([^;\s'\"<>`]{4,})",
        rf"(?i){_PLACEHOLDER}",
    ),
    own_rule(
        "signing key", "secret_key", r"\bSECRET_KEY(?:_BASE)?['\"]?\s{0,5}[=:]\s{0,5}['\"]([^'\"\s]{40,150})['\"]"
    ),
)
"""Prefixes that services give their keys. Examples from documentation match too: masking them costs nothing."""


def _read_gitleaks() -> Iterator[Rule]:
    config = json.loads(Path(__file__).with_name("gitleaks.json").read_text(encoding="utf-8"))
    common = Exemption(config["exempt"])
    for rule in config["rules"]:
        own = [Exemption(**exemption) for exemption in rule.pop("exemptions", ())]
        yield Rule(**rule, exemptions=[common, *own])


RULES = (*_OWN, *CONTEXT_RULES, *CODE_RULES, *_read_gitleaks())
"""Read at import: an event loop must not wait for a disk."""
_KEYWORDS = tuple(dict.fromkeys(chain.from_iterable(rule.keywords for rule in RULES)))
_RULES_BY_KEYWORD = [[number for number, rule in enumerate(RULES) if word in rule.keywords] for word in _KEYWORDS]
_ANY_KEYWORD = re2.Set.SearchSet(RE2_OPTIONS)
for _word in _KEYWORDS:
    _ANY_KEYWORD.Add(re2.escape(_word))
_ANY_KEYWORD.Compile()


def find_secrets(data: bytes, path: str) -> Iterator[ByteRange]:
    """Yield byte ranges of likely secrets in UTF-8 text, in no order; they may overlap. `path` may be empty."""
    keywords = _ANY_KEYWORD.Match(data.lower()) or ()
    for number in sorted({rule for keyword in keywords for rule in _RULES_BY_KEYWORD[keyword]}):
        yield from RULES[number].find(data, path)


LIKELY_SECRET_PLACEHOLDER = "[masked secret]"  # noqa: S105
_BEGIN = re2.compile(
    rb"-----BEGIN[ A-Z0-9_]{0,60}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN[ A-Z0-9_]{0,60}PRIVATE KEY ----"
    rb"|-----BEGIN OpenVPN Static key V1-----|Private-Lines: \d{1,4}"
)
"""Of PEM and PGP, of SSH2, of OpenVPN, and of PuTTY."""
_MARKS = (b"PRIVATE KEY", b"Static key", b"Private-Lines")
_END = re2.compile(rb"-----END|---- END|Private-(?:MAC|Hash)")
_WORD = re2.compile(rb"(?:\\[nrt])*([A-Za-z0-9+/]+={0,2}|=[A-Za-z0-9+/]{4})")
"""Base64, after the escaped line ends of a string in a program."""
_HEADER = re2.compile(rb"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[ \t]*[^\s\\]+")
_MIN_KEY_LINE = 32
"""Bytes. Every line of a key but the last is at least as long, and no word of a program is."""


def redact_likely_secrets(text: str, path: str = "") -> str:
    """Return the text with a placeholder in each line of a likely secret; everything else stays.

    `path` is that of the text's file. Other text is searched by the rules for certain files too.
    """
    data = text.encode("utf-8", "surrogatepass")
    found = sorted([*find_secrets(data, path), *_find_private_keys(data)])
    return b"".join(_mask_ranges(data, _merge_overlapping(found))).decode("utf-8", "surrogatepass") if found else text


def _find_private_keys(data: bytes) -> Iterator[ByteRange]:
    """Yield byte ranges of the base64 words of private keys, without `BEGIN`, `END` and header lines.

    Text between the two lines counts as a key when most of it looks like base64. A key without its end counts too.
    """
    if not any(mark in data for mark in _MARKS):
        return
    begins = [mark.span() for mark in _BEGIN.finditer(data)]
    for number, (_, start) in enumerate(begins):
        next_begin = begins[number + 1][0] if number + 1 < len(begins) else len(data)
        end = _END.search(data, start, next_begin)
        body = _HEADER.sub(lambda header: b" " * len(header[0]), data[start : end.start() if end else next_begin])
        words = [word.span(1) for word in _WORD.finditer(body)]
        long = [word for word in words if _length(word) >= _MIN_KEY_LINE]
        is_key = end is not None and 2 * sum(map(_length, long)) > sum(map(_length, words))
        yield from ((start + low, start + high) for low, high in (words if is_key else long))


def _length(span: ByteRange) -> int:
    return span[1] - span[0]


def _merge_overlapping(ranges: Iterable[ByteRange]) -> Iterator[ByteRange]:
    last: ByteRange | None = None
    for start, end in ranges:
        if last is None or start >= last[1]:
            if last is not None:
                yield last
            last = start, end
        else:
            last = last[0], max(last[1], end)
    if last is not None:
        yield last


def _mask_ranges(data: bytes, ranges: Iterable[ByteRange]) -> Iterator[bytes]:
    done = 0
    for start, end in ranges:
        yield data[done:start]
        yield b"\n".join(map(_mask_line, data[start:end].split(b"\n")))
        done = end
    yield data[done:]


def _mask_line(line: bytes) -> bytes:
    secret = line.rstrip(b"\r")
    return (LIKELY_SECRET_PLACEHOLDER.encode() if secret.strip() else secret) + line[len(secret) :]


def shorten_text(text: str, max_chars: int) -> str:
    """Return one printable line of a stranger's text, with likely secrets masked."""
    # Mask before cutting: half a key would not be recognised.
    printable = "".join(char if char.isprintable() else " " for char in redact_likely_secrets(text))
    line = " ".join(printable.split())
    return line if len(line) <= max_chars else f"{line[:max_chars]}…"
