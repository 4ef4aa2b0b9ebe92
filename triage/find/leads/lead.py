"""What one rule finds: a place in the code that a fact of the report leads to, whatever the ranking says."""

from dataclasses import dataclass

from triage.domain.code import LeadRule


@dataclass(frozen=True, slots=True)
class Lead:
    rule: LeadRule
    file: int
    line: int | None = None
    """The line that fails, has the message, or that the report names."""
    text: str = ""
    """The exception with its message, the message as the source has it, the quoted line, the name or the path."""
    span: tuple[int, int] | None = None
    """The lines of the definition that is meant, if it is not `line`."""
    symbol: str | None = None
    function: str | None = None
    """Of a trace: as it names the function."""
    is_here: bool = True
    """Of a trace: its function or its line of code is in the file."""
    error_maker: str = ""
    """Of a trace: the function in front of which it stands, which makes the error."""
    copies: int = 1
    """Of a message: places of the file that have it."""
    calls_before_error: int = 0
    """Of a trace: frames after this one, all in other code such as a library."""
