"""Our own secrets in text that is about to leave: found in any disguise (`domain.disguises`), and masked.

A model may repeat what it was told, and somebody may have written a key into an issue or a file. Whatever leaves is
looked through; the time is linear in the text.
"""

import base64
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

from triage.secrets.encodings import literals, traces
from triage.secrets.normalized_text import ESCAPE, Span, Unescaped, View

OWN_SECRET_PLACEHOLDER = "(masked secret)"  # noqa: S105 - what stands in its place
"""Means nothing in Markdown and JSON."""
_BETWEEN = " =,;"
"""Two marks with nothing else between them are one."""
Redact = Callable[[Any], Any]
"""Text, or a tree of lists and dicts with text in it, to the same as it may leave."""

_NESTED = 2
"""Times that a disguise may have been packed once more."""
_GRAM_CHARS = 4
_GRAM = re.compile("." * _GRAM_CHARS)
_PACKED = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_HEX = re.compile(r"[0-9A-Fa-f]+")
_ONE_ALPHABET = str.maketrans("-_", "+/")
_NO_TEXT = bytes(byte if byte < 128 else 0 for byte in range(256))


class SecretMatcher:
    """The values that must appear nowhere. Those under eight characters are not looked for: words hold them."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values = [line.strip() for value in values for line in value.splitlines()]

    def has_match(self, text: str) -> bool:
        """Whether the text gives one of them away."""
        return next(self._spans(text, _NESTED), None) is not None

    def redact(self, text: str) -> str:
        """The text with a mark in place of each; JSON stays JSON."""
        if not self.has_match(text):
            return text
        if text.lstrip()[:1] in ("{", "["):
            try:
                tree = json.loads(text)
            except (ValueError, RecursionError):
                return self._each([text])[0]
            indent = 2 if "\n" in text.strip() else None
            masked = json.dumps(self.redact_tree(tree), indent=indent, ensure_ascii=text.isascii())
            # Numbers may spell one too.
            return (json.dumps(OWN_SECRET_PLACEHOLDER) if self.has_match(masked) else masked) + text[
                len(text.rstrip()) :
            ]
        return self._each([text])[0]

    def redact_tree(self, tree: Any) -> Any:
        """A tree of lists and dicts with every text in it masked, also where a secret is spread over several."""
        texts = list(_texts(tree))
        masked = self._each(texts)
        return tree if masked == texts else _with(tree, iter(masked))

    def _each(self, texts: Sequence[str]) -> list[str]:
        """The texts, looked through as if they stood one after the other."""
        starts = [0, *accumulate(len(text) + 1 for text in texts)]
        masked = list(texts)
        inside: dict[int, list[Span]] = {}
        for start, end in sorted(self._spans("\0".join(texts), _NESTED)):
            for number in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)):
                low, high = max(start - starts[number], 0), min(end - starts[number], len(texts[number]))
                if low < high:
                    inside.setdefault(number, []).append((low, high))
        for number, spans in inside.items():
            masked[number] = _without(texts[number], spans)
        return masked

    @cached_property
    def _traces(self) -> dict[str, str]:
        return {flat: literal for value in self._values for flat, literal in traces(value).items()}

    @cached_property
    def _literals(self) -> set[str]:
        return {literal for value in self._values for literal in literals(value)}

    @cached_property
    def _grams(self) -> dict[str, list[tuple[str, int]]]:
        """Traces by a few characters near their beginning, and how far from it those stand."""
        found: dict[str, list[tuple[str, int]]] = {}
        for flat in self._traces:
            for after in range(_GRAM_CHARS):
                found.setdefault(flat[after : after + _GRAM_CHARS], []).append((flat, after))
        return found

    def _spans(self, text: str, nested: int) -> Iterator[Span]:
        """Where they stand, in no order; one place may be told more than once."""
        if not self._grams and not self._literals:
            return
        yield from self._seen(View(text))
        if ESCAPE.search(text):
            yield from self._seen(Unescaped(text))
        if nested:
            yield from self._packed(text, nested)

    def _seen(self, view: View) -> Iterator[Span]:
        flat, grams = view.flat, self._grams
        # Every fourth place is enough: one of a trace's first grams stands there, wherever the trace begins.
        for number, gram in [told for told in enumerate(_GRAM.findall(flat)) if told[1] in grams]:
            for trace, after in grams[gram]:
                start = number * _GRAM_CHARS - after
                end = start + len(trace)
                if start >= 0 and flat.startswith(trace, start) and view.shows(self._traces[trace], start, end):
                    yield view.place(start, end)
        for literal in self._literals:
            start = view.lower.find(literal)
            while start >= 0:
                yield view.stretch(start, start + len(literal))
                start = view.lower.find(literal, start + 1)

    def _packed(self, text: str, nested: int) -> Iterator[Span]:
        """Runs of base64 or hexadecimal digits that give one away when they are unpacked."""
        found = [run.span() for run in _PACKED.finditer(text)]
        mixed = [(start, end) for start, end in found if not text[start:end].islower()]  # others are names of things
        digits = [(start, end) for start, end in found if _HEX.fullmatch(text, start, end)]
        for unpack, runs, shifts in ((_base64, mixed, 4), (_hexadecimal, digits, 2)):
            for shift in range(shifts) if runs else ():
                unpacked = [unpack(text[start + shift : end]) for start, end in runs]
                starts = [0, *accumulate(len(piece) + 1 for piece in unpacked)]
                joined = b"\0".join(unpacked).translate(_NO_TEXT).decode("ascii")
                for start, _ in self._spans(joined, nested - 1):
                    yield runs[bisect_right(starts, start) - 1]


def _base64(run: str) -> bytes:
    return base64.b64decode(run[: len(run) // 4 * 4].translate(_ONE_ALPHABET))


def _hexadecimal(run: str) -> bytes:
    return bytes.fromhex(run[: len(run) // 2 * 2])


def _without(text: str, spans: Sequence[Span]) -> str:
    """The text with one mark for each stretch that the spans, in order, cover together."""
    pieces: list[str] = []
    end = -1
    for start, stop in spans:
        if end < 0 or (start > end and text[end:start].strip(_BETWEEN)):
            pieces += [text[max(end, 0) : start], OWN_SECRET_PLACEHOLDER]
        end = max(end, stop)
    return "".join([*pieces, text[end:]])


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from _texts(value)
            yield from _texts(key)
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from _texts(value)


def _with(tree: Any, texts: Iterator[str]) -> Any:
    """The tree with other texts in the order of `_texts`."""
    if isinstance(tree, str):
        return next(texts)
    if isinstance(tree, dict):
        pairs = [(_with(value, texts), _with(key, texts)) for key, value in tree.items()]
        return {key: value for value, key in pairs}
    if isinstance(tree, list | tuple):
        return [_with(value, texts) for value in tree]
    return tree
