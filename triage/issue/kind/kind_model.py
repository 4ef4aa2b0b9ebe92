"""The learned model of an issue's kind: multinomial logistic regression. `bench/train_kinds.py` learns its weights."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from triage.domain.issue import ParsedIssue
from triage.issue.kind.declared_kind import LearnedKind, find_declared_kind
from triage.issue.kind.kind_features import extract_kind_features

WEIGHTS_FILE = Path(__file__).with_name("kind_weights.json")
KINDS: tuple[LearnedKind, ...] = get_args(LearnedKind)
DECLARED_LOGIT = 2.0
"""Added for the kind that the reporter chose: it becomes about seven times as likely."""


@dataclass(frozen=True)
class Weights:
    scale: float
    """Of the whole numbers in `features`, which the file has to be small."""
    bias: list[float]
    features: Mapping[str, list[int]]
    """For each feature one weight per kind, in the order of `KINDS`."""


def _load_weights() -> Weights:
    stored = json.loads(WEIGHTS_FILE.read_text("utf-8"))
    return Weights(scale=stored["scale"], bias=stored["bias"], features=stored["features"])


_WEIGHTS = _load_weights()
# When the module is imported, because agents run on an event loop, which no file may block.


def estimate_kind(parsed: ParsedIssue) -> dict[LearnedKind, float]:
    """The probability of each kind. Bugs count as more frequent than other kinds, as they are in most projects."""
    logits = list(_WEIGHTS.bias)
    for name, value in extract_kind_features(parsed).items():
        for position, weight in enumerate(_WEIGHTS.features.get(name, ())):
            logits[position] += value * weight * _WEIGHTS.scale
    if declared := find_declared_kind(parsed):
        logits[KINDS.index(declared)] += DECLARED_LOGIT
    highest = max(logits)
    powers = [math.exp(logit - highest) for logit in logits]
    return {kind: power / sum(powers) for kind, power in zip(KINDS, powers, strict=True)}
