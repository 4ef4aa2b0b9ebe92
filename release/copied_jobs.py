"""Writes `examples/enterprise/`: the called workflows as files with all their jobs, for GitHub Enterprise Server.

Each is made of `.github/workflows/NAME.yml` and of its caller `examples/workflows/NAME.yml`: what the caller gives
stands in the jobs, and the action is a step of its own repository. Run by `make golden`, as
`python -m release.copied_jobs`.
"""

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "examples" / "enterprise"
NAMES = ("triage", "fix", "reproduce", "backlog", "scorecard")
_QUEUE = re.compile(r"^  queue: max.*\n|, queue: max(?= })", re.MULTILINE)
"""Enterprise Server does not know it."""
_VALUE = re.compile(r"^( +)([\w-]+): \$\{\{ ((?:inputs|secrets)\.[\w-]+) }}\n", re.MULTILINE)
_IS_GIVEN = re.compile(r" && inputs\.([\w-]+) != ''")
_CALL = re.compile(r"uses: (OWNER/bug-triage)/\.github/workflows/[\w-]+\.yml(@.*)")


def copy_jobs(called: str, caller: str) -> str:
    """Return the workflow that does what the caller's does, without a called one, all as texts of files."""
    head = caller[: caller.index("\njobs:\n")]
    inputs = yaml.safe_load(called)[True]["workflow_call"].get("inputs", {})  # YAML 1.1 reads `on` as true
    (call,) = yaml.safe_load(caller)["jobs"].values()
    given: dict[str, Any] = {f"inputs.{name}": one["default"] for name, one in inputs.items() if "default" in one}
    given |= {f"inputs.{name}": value for name, value in call.get("with", {}).items()}
    given |= {f"secrets.{name}": value for name, value in call.get("secrets", {}).items()}

    def write_value(found: re.Match[str]) -> str:
        indent, name, source = found.groups()
        return _write_entry(indent, name, given[source]) if source in given else ""

    jobs = re.split(r"^permissions: \{}\n", called, maxsplit=1, flags=re.MULTILINE)[1]
    jobs = _VALUE.sub(write_value, _QUEUE.sub("", jobs))
    jobs = _IS_GIVEN.sub(lambda found: "" if f"inputs.{found[1]}" in given else found[0], jobs)
    place = _CALL.search(caller)
    if place is None:
        raise ValueError("the caller calls no workflow of this repository")
    jobs = re.sub(r"uses: \$(?:/container|(/composite))(?: #.*)?", rf"uses: {place[1]}\g<1>{place[2]}", jobs)
    return f"{head}\n{jobs.strip()}\n" if head.endswith("\n") else f"{head}\n\n{jobs.strip()}\n"


def _write_entry(indent: str, name: str, value: Any) -> str:
    lines = str(value).splitlines()
    if len(lines) > 1:
        return f"{indent}{name}: |\n" + "".join(f"{indent}  {line}\n" for line in lines)
    return f"{indent}{name}: {value}\n"


def copy_workflow(name: str) -> str:
    """Return the file of this name in `examples/enterprise`."""
    folders = (ROOT / ".github" / "workflows", ROOT / "examples" / "workflows")
    called, caller = ((folder / f"{name}.yml").read_text(encoding="utf-8") for folder in folders)
    return copy_jobs(called, caller)


def main() -> None:
    for name in NAMES:
        (TARGET / f"{name}.yml").write_text(copy_workflow(name), encoding="utf-8")


if __name__ == "__main__":
    main()
