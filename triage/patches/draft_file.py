"""A draft as a file, which one job passes on to the next."""

import hashlib
import json

from pydantic import ValidationError

from triage.domain.patch import PatchDraft
from triage.errors import BadInput
from triage.text.quote_value import quote_value

MAX_DRAFT_BYTES = 16_000_000
"""Twenty files of the maximum size fit, unless most of their characters are escaped."""


def dump_draft(draft: PatchDraft) -> str:
    """Return the draft as JSON: sorted keys, ASCII, a newline at the end."""
    return json.dumps(draft.model_dump(mode="json"), sort_keys=True, indent=1, ensure_ascii=True) + "\n"


def parse_draft(text: str | bytes) -> PatchDraft:
    """Return the draft of a file.

    Raises:
        BadInput: It is too large, no JSON, or not a draft. The message names the field and shows nothing of the file.
    """
    size = len(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
    if size > MAX_DRAFT_BYTES:
        raise BadInput(f"The draft has {size:,} bytes; {MAX_DRAFT_BYTES:,} are allowed. Make the patch smaller.")
    try:
        return PatchDraft.model_validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            raise BadInput("The draft is not JSON. Use the file that the job before has written.") from None
        place = quote_value(".".join(map(str, first["loc"]))) if first["loc"] else "the whole"
        message = f"The draft cannot be used: {place} is wrong ({first['type'].replace('_', ' ')})."
        raise BadInput(f"{message} Use the file that the job before has written.") from None


def hash_draft(draft: PatchDraft) -> str:
    """Return the SHA-256 of the draft's canonical JSON, in 64 hexadecimal digits."""
    text = json.dumps(draft.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
