"""Random keys that match the rules. The repository contains none: GitHub refuses such pushes."""

import random
import re
import re._parser as parser  # type: ignore[import-not-found]
import string
from collections.abc import Iterator
from typing import Any

from triage.safety.secrets.likely_secrets import RULES
from triage.safety.secrets.secret_rules import Rule

_MORE = 24
"""Repetitions beyond the least, where a pattern sets a higher bound or none."""
_WORD = string.ascii_letters + string.digits
_CATEGORIES = {"DIGIT": string.digits, "WORD": _WORD, "SPACE": " ", "NOT_SPACE": _WORD}


def generate_secrets(rule: Rule, seed: int, many: int = 50) -> Iterator[tuple[str, str]]:
    """Texts that the rule's pattern matches, and the secret in each."""
    chance = random.Random(f"{rule.name} {seed}")
    tree = parser.parse(as_python(rule.pattern))
    for _ in range(many):
        text = _made(tree, chance)
        found = [text.encode()[slice(*span)].decode() for span in rule.find(text.encode(), "")]
        if found:
            yield text, found[0]


def get_rule(name: str) -> Rule:
    return next(rule for rule in RULES if rule.name == name)


def as_python(pattern: str) -> str:
    """RE2's syntax in Python's: `(?i)` holds from where it stands to the end of its group."""
    pattern = pattern.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]")
    made, opened = "", [0]
    for token in re.findall(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?i\)|.", pattern, re.S):
        if token == "(?i)":
            opened[-1] += 1
            made += "(?i:"
        elif token.startswith("[") and len(token) > 1:
            made += "[" + token[1:].replace("[", r"\[")
        elif token == ")":
            made += ")" * (opened.pop() + 1)
        else:
            opened += [0] * (token == "(")
            made += token
    return made + ")" * opened.pop()


def _made(tree: Any, chance: random.Random) -> str:
    return "".join(_piece(str(kind), value, chance) for kind, value in tree)


def _piece(kind: str, value: Any, chance: random.Random) -> str:
    if kind == "LITERAL":
        return chr(value)
    if kind == "IN":
        return chance.choice(_letters(value))
    if kind in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, inner = value
        return "".join(_made(inner, chance) for _ in range(chance.randint(least, min(int(most), least + _MORE))))
    if kind == "SUBPATTERN":
        return _made(value[3], chance)
    if kind == "BRANCH":
        return _made(chance.choice(value[1]), chance)
    return "" if kind == "AT" else chance.choice([" ", chance.choice(_WORD)])


def _letters(members: Any) -> str:
    found = ""
    for kind, value in members:
        if str(kind) == "LITERAL":
            found += chr(value)
        elif str(kind) == "RANGE":
            found += "".join(map(chr, range(value[0], min(value[1], 126) + 1)))
        elif str(kind) == "CATEGORY":
            found += _CATEGORIES[str(value).removeprefix("CATEGORY_")]
    negated = str(members[0][0]) == "NEGATE"
    return "".join(c for c in f"{_WORD} ;" if c not in found) if negated else found
