"""The patterns of likely secrets: gitleaks' rules, described in `gitleaks.md`, and our own."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import re2  # type: ignore[import-untyped]

from triage.safety.secrets.code_rules import CODE_RULES
from triage.safety.secrets.context_rules import CONTEXT_RULES
from triage.safety.secrets.rule import RE2_OPTIONS, ByteRange, Exemption, Rule, own_rule

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
    """Byte ranges of likely secrets in UTF-8 text, in no order; they may overlap. `path` may be empty."""
    keywords = _ANY_KEYWORD.Match(data.lower()) or ()
    for number in sorted({rule for keyword in keywords for rule in _RULES_BY_KEYWORD[keyword]}):
        yield from RULES[number].find(data, path)
