"""The hash by which commits name the draft that they were made from."""

import hashlib
import json

from triage.domain.proposal import PatchDraft


def hash_draft(draft: PatchDraft) -> str:
    """Return the SHA-256 of the draft's canonical JSON, in 64 hexadecimal digits."""
    text = json.dumps(draft.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
