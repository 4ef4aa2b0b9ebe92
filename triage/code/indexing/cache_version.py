"""The version of what an index contains: while it stays the same, the same file gives the same extract."""

import sys
import unicodedata
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from triage import __version__
from triage.code.files.languages import LANGUAGES
from triage.safety.secrets import likely_secrets


@cache
def cache_version() -> str:
    """A digest of the code of `code` and `secrets`, of parsers' versions, and of Python's Unicode tables."""
    digest = blake2b(__version__.encode(), digest_size=16)
    index, secrets = Path(__file__).parents[1], Path(likely_secrets.__file__).parent
    for file in sorted([*index.rglob("*.py"), *secrets.glob("*.py"), *secrets.glob("*.json")]):
        digest.update(file.read_bytes())
    modules = {language.grammar.partition(":")[0] for language in LANGUAGES} - {""}
    for name in ("google_re2", "tree_sitter", *sorted(modules)):
        digest.update(f"{name} {version(name)}\n".encode())
    digest.update(f"{sys.byteorder} {sys.version_info[:2]} {unicodedata.unidata_version}".encode())
    return digest.hexdigest()
