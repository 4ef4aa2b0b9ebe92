"""Updates `composite/action.yml` and `container/action.yml` from `action.yml`: inputs and outputs are the same.

Run by `make golden`, as `python -m release.action_files`.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPOSITE = ROOT / "composite" / "action.yml"
CONTAINER = ROOT / "container" / "action.yml"
_NAME = re.compile(r"^  ([a-z][a-z-]*):$", re.MULTILINE)
_VARIABLES = re.compile(r"(?:^        INPUT_\w+: .*\n)+", re.MULTILINE)


def copy_container(action: str) -> str:
    """Returns the container action in a folder: called workflows name it `$/container`, and `$/` takes no root."""
    head = "# Generated from action.yml by make golden, for workflows that name the action of their own commit.\n"
    built = "image: ../Dockerfile # zizmor: ignore[unpinned-images] -- built here, not pulled"
    return head + action.replace("image: Dockerfile", built)


def update_composite(composite: str, action: str) -> str:
    """Returns the composite action with the inputs and outputs of `action`, both as texts of the files."""
    inputs, outputs = _cut_section(action, "inputs", "outputs"), _cut_section(action, "outputs", "runs")
    variables = [f"        {_make_variable(name)}: ${{{{ inputs.{name} }}}}\n" for name in _NAME.findall(inputs)]
    composite = composite.replace(_cut_section(composite, "inputs", "outputs"), inputs)
    composite = composite.replace(_cut_section(composite, "outputs", "runs"), _add_values(outputs))
    return _VARIABLES.sub("".join(variables), composite, count=1)  # the others are of inputs that are gone


def _cut_section(text: str, first: str, following: str) -> str:
    start, end = text.index(f"\n{first}:\n") + 1, text.index(f"\n{following}:\n") + 1
    return text[start:end]


def _make_variable(name: str) -> str:
    # Steps of a composite action get no INPUT_ variables, and a shell may drop names with a hyphen.
    return f"INPUT_{name.replace('-', '_').upper()}"


def _add_values(outputs: str) -> str:
    head, *entries = re.split(r"(?=^  [a-z])", outputs, flags=re.MULTILINE)
    return head + "".join(_add_value(entry) for entry in entries)


def _add_value(entry: str) -> str:
    (name,) = _NAME.findall(entry)
    text = entry.rstrip("\n")
    return f"{text}\n    value: ${{{{ steps.triage.outputs.{name} }}}}\n{entry[len(text) + 1 :]}"


def main() -> None:
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    COMPOSITE.write_text(update_composite(COMPOSITE.read_text(encoding="utf-8"), action), encoding="utf-8")
    CONTAINER.write_text(copy_container(action), encoding="utf-8")


if __name__ == "__main__":
    main()
