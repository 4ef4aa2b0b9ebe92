"""Which characters end the lines of a file."""

from enum import Enum


class LineEnds(Enum):
    NONE = "no line end"
    LF = "LF"
    CRLF = "CRLF"
    MIXED = "line ends of several kinds"


def find_line_ends(text: str) -> LineEnds:
    """Return the line ends of a text. A carriage return alone counts as another kind."""
    pairs, feeds, returns = text.count("\r\n"), text.count("\n"), text.count("\r")
    if pairs != returns or (pairs and pairs != feeds):
        return LineEnds.MIXED
    if pairs:
        return LineEnds.CRLF
    return LineEnds.LF if feeds else LineEnds.NONE
