"""Ways to look at a text in which something may be hidden: its letters and digits alone, or without its escapes."""

import re
from functools import cached_property
from html import unescape
from itertools import pairwise

from triage.secrets.encodings import squeezed
from triage.text.clean_text import clean_text

Span = tuple[int, int]
"""Where something stands in a text: its start, and the place after its end."""

ESCAPE = re.compile(
    r"\\{1,4}u(?:([0-9A-Fa-f]{4})|\{0{0,4}([0-9A-Fa-f]{1,4})\})|(?:\\{1,4}x|%(?:25)?)([0-9A-Fa-f]{2})"
    r"|&(?:amp;)?(#?[A-Za-z0-9]{2,8};)|\\{1,4}[nrtbf]"
)
"""One character as JSON, C, URLs and HTML write it, also where that was escaped once more."""
_LAST_ASCII = 0x7F
_AROUND_CHARS = 3


class View:
    """The text, squeezed, and the way back."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def flat(self) -> str:
        """Its letters and digits."""
        return squeezed(self._text)

    @cached_property
    def lower(self) -> str:
        """As long as the text: that one letter would become two."""
        return self._text.replace("\u0130", "I").lower()

    @cached_property
    def _at(self) -> list[int]:
        counts = {one: len(squeezed(one)) for one in set(self._text)}
        return [at for at, one in enumerate(self._text) for _ in range(counts[one])]

    def place(self, low: int, high: int) -> Span:
        """Where squeezed characters stand in the text that is looked at."""
        return self.stretch(self._at[low], self._at[high - 1] + 1)

    def stretch(self, start: int, end: int) -> Span:
        """Where characters of this view stand in the text that is looked at."""
        return start, end

    def shows(self, literal: str, low: int, high: int) -> bool:
        """Whether it really stands so there: in one piece but for what nobody sees, or letter by letter."""
        if not literal:
            return True
        at = self._at[low:high]
        if all(after - before > 1 for before, after in pairwise(at)):
            return True
        around = self._text[max(at[0] - _AROUND_CHARS, 0) : at[-1] + 1 + _AROUND_CHARS]
        return literal in clean_text(around).replace("\n", "").casefold()


class Unescaped(View):
    """The same without escapes."""

    def __init__(self, text: str) -> None:
        super().__init__(ESCAPE.sub(_shown, text))
        self._escaped = text

    @cached_property
    def _bounds(self) -> list[int]:
        """Where each character begins in the text as it was, and its end."""
        bounds: list[int] = []
        end = 0
        for escape in ESCAPE.finditer(self._escaped):
            bounds.extend(range(end, escape.start()))
            bounds.extend([escape.start()] * len(_shown(escape)))
            end = escape.end()
        return [*bounds, *range(end, len(self._escaped) + 1)]

    def stretch(self, start: int, end: int) -> Span:
        """Where they stand with the escapes."""
        return self._bounds[start], self._bounds[end]


def _shown(escape: re.Match[str]) -> str:
    if escape[4]:
        return unescape(f"&{escape[4]}")
    code = int(escape[1] or escape[2] or escape[3] or "20", 16)
    return " " if escape[3] and code > _LAST_ASCII else chr(code)  # a byte of several is no letter
