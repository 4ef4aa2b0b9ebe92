"""Makes `triage/safety/secrets/gitleaks.json` from gitleaks' own configuration.

Leaves out the rules for paths alone and for private keys, which we detect ourselves. Also leaves out the exceptions for
keys in services' documentation: GitHub refuses pushes with some of them, and masking them does no harm.
"""

import argparse
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import re2  # type: ignore[import-untyped]

OURS = {"private-key", "pkcs12-file"}
WITHOUT_EXAMPLES = {"aws-access-token", "gcp-api-key", "github-app-token", "github-pat"}
GROUPS = {"sonar-api-token": 2}
"""Number of the group with the secret, where gitleaks names none and the first group is a word before it."""
NOT_IN_LETTERS = {"generic-api-key": [r"^[a-zA-Z_./-]+$"]}
"""Our addition: gitleaks ignores names made of letters, but takes those with a slash, such as Europe/Helsinki, for keys."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("toml", type=Path, help="gitleaks' config/gitleaks.toml")
    parser.add_argument("--to", type=Path, default=Path("triage/safety/secrets/gitleaks.json"))
    options = parser.parse_args()
    config = tomllib.loads(options.toml.read_text(encoding="utf-8"))
    rules = [convert_rule(rule) for rule in config["rules"] if rule["id"] not in OURS]
    output = {
        "exempt": join_patterns([one["pattern"] for one in convert_exemptions(config["allowlist"])]),
        "rules": rules,
    }
    options.to.write_text(json.dumps(output, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
    print(f"{len(rules)} rules")


def convert_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    named = {
        "name": rule["id"],
        "pattern": rule["regex"],
        "keywords": sorted({word.lower() for word in rule["keywords"]}),
        "group": GROUPS.get(rule["id"], rule.get("secretGroup", 0)),
        "entropy": rule.get("entropy", 0),
        "path": rule.get("path", ""),
    }
    allowed = () if rule["id"] in WITHOUT_EXAMPLES else rule.get("allowlists", ())
    # Exceptions for certain files only (condition AND) are for build recipes.
    exemptions = [made for one in allowed if one.get("condition") != "AND" for made in convert_exemptions(one)]
    exemptions += [{"pattern": pattern} for pattern in NOT_IN_LETTERS.get(rule["id"], ())]
    return {name: value for name, value in {**named, "exemptions": exemptions}.items() if value}


def convert_exemptions(allowlist: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Patterns apply to the allowlist's target, stop words always to the secret."""
    if patterns := allowlist.get("regexes"):
        target = allowlist.get("regexTarget")
        yield {"pattern": join_patterns(patterns), **({"target": target} if target else {})}
    if words := {word.lower() for word in allowlist.get("stopwords", ())}:
        yield {"pattern": f"(?i)(?:{join_patterns(sorted(map(re2.escape, words)))})"}


def join_patterns(patterns: Sequence[str]) -> str:
    return (
        "|".join(pattern if pattern.isalnum() else f"(?:{pattern})" for pattern in patterns)
        if len(patterns) > 1
        else patterns[0]
    )


if __name__ == "__main__":
    main()
