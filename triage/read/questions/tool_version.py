"""The version of the tool that builds the project: a manifest demands one, a build failed, and the report names none.

Of nine such reports that were read, of uv, fd, lsd and others in Rust and Go, the tool was too old in eight.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from triage.domain.findings import MissingInformation
from triage.domain.issue import ParsedIssue
from triage.read.reporter_language import get_phrases
from triage.read.text_signs import SAYS_FAILURE


class _Tool(NamedTuple):
    name: str
    command: str
    """That prints its version."""
    demand: str
    """In the manifest."""
    build: str
    version: str
    """In a report."""


TOOLS: Mapping[str, _Tool] = {
    "Cargo.toml": _Tool(
        "Rust",
        "cargo --version",
        r"^\s*rust-version\s*=\s*\"([\w.]{1,20})\"",
        r"\bcargo (?:\+\S+ )?(?:install|build)\b",
        r"(?i)\b(?:rustc?|cargo)\W{0,3}(?:version\W{1,3})?v?\d+\.\d",
    ),
    "go.mod": _Tool(
        "Go",
        "go version",
        r"^go (\d[\w.]{0,19})\s*$",
        r"\bgo (?:install|build)\b",
        r"(?i)\bgo(?:lang)?[ :=`*]{0,3}(?:version[ :=`*]{1,3}(?:go)?)?v?\d+\.\d",
    ),
}
"""By manifest in the root."""


def ask_tool_version(parsed: ParsedIssue, manifests: Mapping[str, str]) -> list[MissingInformation]:
    """`manifests` are the texts of those of `TOOLS` that the project has. Takes time linear in the texts."""
    for path, tool in TOOLS.items():
        demand = re.search(tool.demand, manifests.get(path, ""), re.M)
        is_build = re.search(tool.build, parsed.text) and SAYS_FAILURE.search(parsed.text)
        if demand and is_build and not re.search(tool.version, parsed.text):
            asked = get_phrases(parsed.language).ask_version_of.format(project=tool.name)
            question = f"{asked} (`{tool.command}`; `{path}`: {demand[1]})"
            return [MissingInformation(kind="environment", question=question, reason=f"`{path}` demands {demand[1]}.")]
    return []
