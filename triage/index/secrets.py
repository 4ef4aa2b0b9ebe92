"""Keys that were committed by accident are masked before a line is cut, embedded or shown."""

import re

_MASK = "[masked secret]"
_FORMS = (
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,251}"),
    (("github_pat_",), r"github_pat_[A-Za-z0-9_]{60,251}"),
    (("glpat-",), r"glpat-[A-Za-z0-9_-]{20,64}"),
    (("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    (("sk-",), r"\bsk-(?:[a-z]{2,12}-)?(?:[a-z0-9]{2,12}-)?[A-Za-z0-9_-]{32,200}"),
    (("sk_live_", "rk_live_"), r"\b[sr]k_live_[A-Za-z0-9]{20,200}"),
    (("xoxb-", "xoxp-", "xoxa-", "xoxs-"), r"xox[abps]-[A-Za-z0-9-]{10,200}"),
    (("AIza",), r"\bAIza[A-Za-z0-9_-]{35}\b"),
    (("tvly-",), r"\btvly-[A-Za-z0-9_-]{20,100}"),
    (("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    (("pypi-",), r"\bpypi-[A-Za-z0-9_-]{50,400}"),
)
_TOKENS = tuple((starts, re.compile(form)) for starts, form in _FORMS)
_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")


def masked(text: str) -> str:
    """The text with the tokens of well-known services and private keys masked; the number of lines stays.

    The forms are those that the services publish for secret scanning.
    """
    for starts, form in _TOKENS:
        # Looking for the fixed start first costs a twentieth of running the pattern.
        if any(start in text for start in starts):
            text = form.sub(_MASK, text)
    return _without_keys(text) if "PRIVATE KEY-----" in text else text


def _without_keys(text: str) -> str:
    lines = text.split("\n")
    inside = False
    for number, line in enumerate(lines):
        if "PRIVATE KEY-----" in line:
            inside = "-----BEGIN" in line and "-----END" not in line
        elif inside:
            lines[number] = _KEY_LINE.sub(_MASK, line)
    return "\n".join(lines)
