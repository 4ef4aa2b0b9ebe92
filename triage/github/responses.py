"""The parts of GraphQL's answers that we read. Unknown fields are ignored; deleted accounts are null."""

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from triage.github.github_errors import unreadable_response

A = TypeVar("A", bound=BaseModel)


class Response(BaseModel):
    """A part of a response. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def parse_response(response_type: type[A], raw: object) -> A:
    """Return a response with its fields checked.

    Raises:
        GitHubError: The response has another form.
    """
    try:
        return response_type.model_validate(raw)
    except ValidationError:
        raise unreadable_response() from None
