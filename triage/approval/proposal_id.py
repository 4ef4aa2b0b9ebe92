"""The hash of a value: of everything that would be done."""

import hashlib
import json

from triage.domain.value import Value


def dump_canonical(value: Value) -> str:
    """Return a value as JSON that is the same on every machine: sorted keys, no spaces, ASCII."""
    return json.dumps(value.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def hash_value(value: Value) -> str:
    """Return the SHA-256 of the canonical JSON, in 64 hexadecimal digits."""
    return hashlib.sha256(dump_canonical(value).encode("ascii")).hexdigest()
