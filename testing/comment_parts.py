"""The parts of our comment by name, for tests of what a job writes into one of them."""

from typing import NamedTuple, cast

from triage.safety.active_content import list_links
from triage.say.comment import compose_comment, read_parts
from triage.say.hidden_state import CommentState, PartName, parse_state


class CommentParts(NamedTuple):
    state_line: str = ""
    report: str = ""
    proposal: str = ""
    reply: str = ""
    reproduction: str = ""
    footer: str = ""


def split_comment(body: str) -> CommentParts:
    return CommentParts(body.partition("\n")[0], **read_parts(body))


def join_comment(parts: CommentParts) -> str:
    """Return a comment of ours whose links are all its own."""
    texts = {cast("PartName", name): text for name, text in parts._asdict().items() if name != "state_line"}
    links = [link for text in texts.values() for link in list_links(text)]
    return compose_comment("", parse_state(parts.state_line) or CommentState(), texts, links)
