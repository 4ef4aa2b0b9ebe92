"""Finds the JSON objects in a model's text, and reads the slips that models make in JSON.

Text and thinking around an object, commas too many or missing, comments, single quotes, bare words, unescaped quotes in
strings, a missing end. The cost is linear in the length of the text.
"""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 64
MAX_READINGS = 6
"""How often the text may be read in search of an object, because it is read again from each brace that begins none."""
MAX_FAILURES = 500
"""Braces that begin no object."""

_THINKING = r"(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad)"
_TOKEN = re.compile(rf"<(?P<close>/?){_THINKING}>|(?P<brace>\{{)", re.IGNORECASE)
_OPEN_THOUGHT = re.compile(rf"\s*<{_THINKING}>", re.IGNORECASE)
_END_OF_THOUGHT = re.compile(rf"(?<!`)</{_THINKING}>(?!`)", re.IGNORECASE)
_AFTER_NAME, _AFTER_VALUE = r":\n", r",}\]\n"
_AFTER_ANSWER = re.compile(r"[\s`]*\Z")
# No possessive groups: Python before 3.11.5 matches them wrongly (gh-106052). Nothing follows that could backtrack.
_BLANK = re.compile(r"(?:[\s,\ufeff]|//[^\n]*|\#[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))*")
# A quote that nothing of JSON follows is part of the string, and should have been escaped.
_STRINGS = {
    (quote, after): re.compile(rf"(?:[^{quote}\\]|\\.|{quote}(?![ \t\r]*(?:[{after}]|//|/\*|\#|```|\Z)))*", re.DOTALL)
    for quote in "\"'"
    for after in (_AFTER_NAME, _AFTER_VALUE)
}
_BARE = re.compile(r"[^\s,:{}\[\]\"'`]++")
_SPECIAL = re.compile(r"\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})|\\'|[\"\\]")
_CORRECTED = {"\\": "\\\\", "\\'": "'", '"': '\\"'}
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None, "undefined": None}
_CUT = object()
"""A string without an end."""


class _Unreadable(ValueError):
    pass


@dataclass(frozen=True)
class _Found:
    value: dict[str, Any]
    start: int
    end: int
    is_whole: bool


def find_json_objects(text: str) -> list[dict[str, Any]]:
    """Return the outermost JSON objects of a text, the last one first, and those whose end is missing at the end.

    Objects inside of `<think>` blocks are drafts and left out. Behind a block that is never closed, only an object that
    ends the text counts.
    """
    return [one.value for one in sorted(_find_objects(text), key=lambda one: (one.is_whole, one.start), reverse=True)]


def leave_out_quoted(text: str, prompt: str) -> str:
    """Return the text without the objects that stand in the prompt, whatever the blanks: they are no answer to it."""
    known, kept, end = "".join(prompt.split()), list[str](), 0
    for one in _find_objects(text):
        if one.is_whole and "".join(text[one.start : one.end].split()) in known:
            kept.append(text[end : one.start])
            end = one.end
    return "".join([*kept, text[end:]])


def _find_objects(text: str) -> list[_Found]:
    reader = _Search(text)
    found: list[_Found] = []
    position = 0
    thinking_from: int | None = None
    while token := _TOKEN.search(text, position):
        position = token.end()
        if token["close"]:  # the tag that opens the block may stand in the prompt
            found, thinking_from = [], None
        elif not token["brace"]:
            thinking_from = position if thinking_from is None else thinking_from
        elif thinking_from is None and (one := reader.read_object(token.start())):
            found.append(one)
            position = one.end if one.is_whole else position
    if thinking_from is not None:
        found += reader.find_final_object(thinking_from)
    return found


def read_first_object(text: str) -> dict[str, Any]:
    """Return the object that begins first, also without its end; empty if there is none."""
    start = text.find("{")
    found = _Search(text).read_object(start) if start >= 0 else None
    return found.value if found else {}


def replace_surrogates(text: str) -> str:
    """Return the text with `?` for each lone surrogate, which JSON can hold and the body of a request cannot."""
    return text.encode("utf-8", "replace").decode()


def strip_thinking(text: str) -> str:
    """Return a text without the thoughts before it, whose first tag may stand in the prompt.

    Tags in backticks are part of the text. Thoughts without an end are all there is.
    """
    ends = list(_END_OF_THOUGHT.finditer(text))
    if ends:
        return text[ends[-1].end() :]
    return "" if _OPEN_THOUGHT.match(text) else text


class _Search:
    """Reads objects in one text, and gives up when too much of it was read in vain."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._failures_left = MAX_FAILURES
        self._chars_left = MAX_READINGS * len(text)

    def read_object(self, start: int) -> _Found | None:
        if self._failures_left <= 0 or self._chars_left < 0:
            return None
        reader = _Reader(self._text, start)
        try:
            found = _Found(reader.read_object(), start, reader.position, reader.is_whole)
        except _Unreadable:
            found = None
        if found is None or not found.is_whole:
            self._failures_left -= 1
            self._chars_left -= reader.position - start
        return found

    def find_final_object(self, start: int) -> list[_Found]:
        while (brace := self._text.find("{", start)) >= 0:
            found = self.read_object(brace)
            start = found.end if found and found.is_whole else brace + 1
            if found and found.is_whole and _AFTER_ANSWER.match(self._text, found.end):
                return [found]
        return []


class _Reader:
    """Reads one object without recursion, so that deep nesting is an error of ours."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._root: dict[str, Any] = {}
        self._stack: list[dict[str, Any] | list[Any]] = [self._root]
        self._key: str | None = None
        self.position = start + 1
        """Up to where the text was read."""
        self.is_whole = True

    def read_object(self) -> dict[str, Any]:
        while self._stack:
            self._skip_blank()
            if self.position >= len(self._text) or self._text.startswith("```", self.position):
                self.is_whole = False
                break
            character = self._text[self.position]
            if character in "}]":
                self._close(dict if character == "}" else list)
                self.position += 1
            elif character in "{[":
                self._open({} if character == "{" else [])
                self.position += 1
            else:
                scalar = self._read_scalar()
                if scalar is not _CUT:
                    self._add_scalar(scalar)
        return self._root

    def _skip_blank(self) -> None:
        blank = _BLANK.match(self._text, self.position)
        self.position = blank.end() if blank else self.position

    def _close(self, kind: type) -> None:
        # A bracket that is missing inside is closed too.
        while self._stack and not isinstance(self._stack[-1], kind):
            self._stack.pop()
        if not self._stack:
            raise _Unreadable
        self._stack.pop()
        self._key = None

    def _open(self, container: dict[str, Any] | list[Any]) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise _Unreadable
        self._attach(container)
        self._stack.append(container)

    def _add_scalar(self, value: Any) -> None:
        if not self._expects_name:
            self._attach(value)
            return
        self._skip_blank()
        if not self._text.startswith(":", self.position):
            if self.position < len(self._text):
                raise _Unreadable
            return
        self._key = value if isinstance(value, str) else str(value)
        self.position += 1

    @property
    def _expects_name(self) -> bool:
        return isinstance(self._stack[-1], dict) and self._key is None

    def _attach(self, value: Any) -> None:
        container = self._stack[-1]
        if isinstance(container, list):
            container.append(value)
        elif self._key is None:
            raise _Unreadable
        else:
            container[self._key] = value
            self._key = None

    def _read_scalar(self) -> Any:
        quote = self._text[self.position]
        if quote in "\"'":
            return self._read_string(quote)
        bare = _BARE.match(self._text, self.position)
        if not bare:
            raise _Unreadable
        self.position = bare.end()
        return _read_bare(bare[0])

    def _read_string(self, quote: str) -> Any:
        pattern = _STRINGS[quote, _AFTER_NAME if self._expects_name else _AFTER_VALUE]
        body = pattern.match(self._text, self.position + 1)
        end = body.end() if body else self.position + 1
        if not body or not self._text.startswith(quote, end):
            self.position = len(self._text)
            return _CUT
        self.position = end + 1
        encoded = _SPECIAL.sub(lambda found: _CORRECTED.get(found[0], found[0]), body[0])
        return replace_surrogates(json.loads(f'"{encoded}"', strict=False))


def _read_bare(token: str) -> Any:
    if token.casefold() in _CONSTANTS:
        return _CONSTANTS[token.casefold()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(token)
    return token
