"""A file as others may see it: each likely secret is a mask with a number, so that an edit can keep what it hides."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from triage.safety.secrets.likely_secrets import LIKELY_SECRET_PLACEHOLDER, replace_likely_secrets

_MASK = re.compile(r"[\[(]masked[ _]secret(?: \d{1,7})?[\])]", re.IGNORECASE)
"""A mask of ours, with or without a number, or what a model makes of one."""
_MIN_HIDDEN_CHARS = 4
"""A shorter value is not looked for in other text: ordinary words may contain it."""


class MaskedText(NamedTuple):
    text: str
    values: Sequence[str]
    """What the masks stand for: `[masked secret 1]` for the first one. None is there twice."""


@lru_cache(maxsize=8)
def mask_values(text: str, path: str) -> MaskedText:
    """Return the text of a file with its likely secrets masked. What looks like a mask already is masked as well."""
    numbers: dict[str, int] = {}

    def mask(value: str) -> str:
        return _format_mask(numbers.setdefault(value, len(numbers) + 1))

    masked = replace_likely_secrets(text, path, mask, _find_mask_spans(text))
    return MaskedText(masked, list(numbers))


def mask_again(text: str, path: str, values: Sequence[str]) -> str:
    """Return another version of a file with the masks of the first one. A secret that is new has no number."""
    numbers = {value: number for number, value in enumerate(values, 1)}

    def mask(value: str) -> str:
        return _format_mask(numbers[value]) if value in numbers else LIKELY_SECRET_PLACEHOLDER

    known = [span for span in _find_mask_spans(text) if text[slice(*span)] in numbers]
    return replace_likely_secrets(text, path, mask, known)


def restore_values(text: str, values: Sequence[str]) -> str:
    """Return the text with what its masks stand for. A mask that stands for nothing stays."""
    masks = {_format_mask(number): value for number, value in enumerate(values, 1)}
    return _MASK.sub(lambda found: masks.get(found[0], found[0]), text) if values else text


def hide_values(text: str, values: Iterable[str]) -> str:
    """Return text about a file without the values that its masks stand for."""
    for number, value in enumerate(values, 1):
        if len(value) >= _MIN_HIDDEN_CHARS:
            text = text.replace(value, _format_mask(number))
    return text


def find_masks(text: str) -> Iterator[re.Match[str]]:
    """Everything in a text that is a mask or looks like one."""
    return _MASK.finditer(text)


def are_kept_in_order(masks: Iterable[str], before: Iterable[str]) -> bool:
    """Whether all masks were there before, in this order. Some may be gone."""
    left = iter(before)
    return all(mask in left for mask in masks)


def _format_mask(number: int) -> str:
    return f"{LIKELY_SECRET_PLACEHOLDER[:-1]} {number}]"


def _find_mask_spans(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in find_masks(text)]
