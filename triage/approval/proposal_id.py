"""The id of a proposal: the first digits of a hash of everything that would be done."""

import hashlib
import json

from triage.domain.proposal import Proposal

ID_CHARS = 12


def dump_canonical(proposal: Proposal) -> str:
    """Return the proposal as JSON that is the same on every machine: sorted keys, no spaces, ASCII."""
    return json.dumps(proposal.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def hash_proposal(proposal: Proposal) -> str:
    """Return the SHA-256 of the canonical JSON, in hexadecimal digits."""
    return hashlib.sha256(dump_canonical(proposal).encode("ascii")).hexdigest()


def compute_proposal_id(proposal: Proposal) -> str:
    """Return the id that people see and name."""
    return hash_proposal(proposal)[:ID_CHARS]
