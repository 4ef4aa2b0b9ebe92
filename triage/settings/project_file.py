"""The project's own settings: text of `.github/triage.yml` to values, or every fault with its line."""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from triage.domain.project_config import Labels, Price, ProjectConfig
from triage.errors import BadConfig
from triage.settings.field_checks import quote_value

MAX_BYTES = 64 * 1024
MAX_DEPTH = 6
"""Levels of nesting; the file needs three."""
MAX_PROBLEMS = 10
"""Faults that are named; further ones are counted."""
QUOTING_HINT = "what begins with *, &, @, ` or % has to stand in quotes"
NULL_SCALAR = re.compile(r"null|Null|NULL|~|")
"""A plain scalar that is no value, in YAML's core schema."""

PathStep = str | int
_SECTIONS: Mapping[PathStep, type[BaseModel]] = {"labels": Labels, "prices": Price}


class Problem(NamedTuple):
    """What is wrong, and where."""

    line: int
    message: str


class _InvalidYaml(Exception):
    """The text holds nothing that could be looked at further."""

    def __init__(self, line: int, said: str) -> None:
        super().__init__(said)
        self.problem = Problem(line, said)


def parse_project_config(data: bytes, path: str) -> ProjectConfig:
    """The settings in a file's bytes; an empty file sets nothing.

    Args:
        data: The file.
        path: Where it lies in the repository, for the message.

    Raises:
        BadConfig: One line that names every fault with its line and what is allowed instead.
    """
    config, faults = _parse(data)
    if config is not None:
        return config
    faults.sort()
    named = "; ".join(f"line {fault.line}: {fault.message}" for fault in faults[:MAX_PROBLEMS])
    more = f"; and {len(faults) - MAX_PROBLEMS} more" if len(faults) > MAX_PROBLEMS else ""
    raise BadConfig(path, faults[0].line, f"{path} cannot be used: {named}{more}.")


def _parse(data: bytes) -> tuple[ProjectConfig | None, list[Problem]]:
    """The settings, or what is wrong with them."""
    try:
        tree = _parse_yaml(data)
    except _InvalidYaml as wrong:
        return None, [wrong.problem]
    if tree is None:
        return ProjectConfig(), []
    faults = list(_find_invalid_nodes(tree))
    try:
        config = ProjectConfig.model_validate(_to_plain_data(tree), by_alias=True, by_name=False)
    except ValidationError as error:
        told = error.errors(include_url=False, include_input=False)
        return None, faults + [Problem(_find_line(tree, fault["loc"]), _describe_error(fault)) for fault in told]
    return (None, faults) if faults else (config, [])


def _parse_yaml(data: bytes) -> yaml.MappingNode | None:
    """The document as nodes, which know their lines. Nothing is built of them by YAML's own rules."""
    if len(data) > MAX_BYTES:
        raise _InvalidYaml(1, f"the file has {len(data):,} bytes; {MAX_BYTES:,} are allowed")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _InvalidYaml(data.count(b"\n", 0, error.start) + 1, "this is no UTF-8 text") from None
    try:
        _check_events(text)
        node: yaml.Node | None = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _InvalidYaml(mark.line + 1 if mark else 1, _describe_syntax_error(error)) from None
    except yaml.reader.ReaderError as error:
        raise _InvalidYaml(
            text.count("\n", 0, error.position) + 1, "a character stands here that YAML forbids"
        ) from None
    if node is None or node.tag == "tag:yaml.org,2002:null":
        return None
    if not isinstance(node, yaml.MappingNode):
        raise _InvalidYaml(_node_line(node), f"the file needs keys: {', '.join(_keys(ProjectConfig))}")
    return node


def _check_events(text: str) -> None:
    """Refuse what could make a small text large or deep, before a tree is made of it."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if getattr(event, "anchor", None):  # an alias has one too
            raise _InvalidYaml(line, QUOTING_HINT)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _InvalidYaml(line, f"it is nested more than {MAX_DEPTH} levels deep")


def _describe_syntax_error(error: yaml.MarkedYAMLError) -> str:
    """What YAML's parser says, which may quote a character or two of the file."""
    told = " ".join((error.problem or "").encode("ascii", "backslashreplace").decode().split())[:120]
    special = "cannot start any token" in told and "\\t" not in told
    if special or str(error.context).startswith(("while scanning an alias", "while scanning an anchor")):
        return f"{QUOTING_HINT} ({told})"
    return f"this is no YAML ({told})"


def _find_invalid_nodes(node: yaml.Node) -> Iterator[Problem]:
    """What a tree of nodes can hold and plain data cannot: repeated keys, keys that are no words, types by tag."""
    if not str(node.tag).startswith("tag:yaml.org,2002:") or str(node.tag).count("/"):
        yield Problem(_node_line(node), "types (!) are not allowed; put such text in quotes")
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _find_invalid_nodes(item)
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                yield Problem(_node_line(key), "a key has to be a word")
            elif key.value in first:
                yield Problem(
                    _node_line(key), f"{quote_value(key.value)} stands here again, after line {first[key.value]}"
                )
            else:
                first[key.value] = _node_line(key)
            yield from _find_invalid_nodes(value)


def _to_plain_data(node: yaml.Node) -> Any:
    """Data of text only: a label `1.0` or `no` stays what was written."""
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _to_plain_data(value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}
    if isinstance(node, yaml.SequenceNode):
        return [_to_plain_data(item) for item in node.value]
    assert isinstance(node, yaml.ScalarNode), "SafeLoader makes three kinds of nodes"
    return None if node.style is None and NULL_SCALAR.fullmatch(node.value) else node.value


def _find_line(node: yaml.Node, path: tuple[PathStep, ...]) -> int:
    """Line of the key or item that a path through the data leads to, as far as it leads."""
    line = _node_line(node)
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = [pair for pair in node.value if pair[0].value == step]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            found = [(node.value[step], node.value[step])]
        else:
            break
        if not found:
            break
        key, node = found[-1]
        line = _node_line(key)
    return line


def _node_line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


_MESSAGES = {
    "string_type": "needs a text",
    "list_type": "needs a list, such as [one, two]",
    "dict_type": "needs keys with values",
    "model_type": "needs keys with values",
    "float_type": "needs a number such as 1.50",
    "float_parsing": "needs a number such as 1.50",
    "finite_number": "needs a number such as 1.50",
    "string_too_short": "must not be empty",
    "string_too_long": "has more than {max_length:,} characters",
    "too_long": "has more than {max_length:,} entries",
    "greater_than_equal": "must not be less than {ge:g}",
    "less_than_equal": "must not be more than {le:g}",
    "missing": "is missing",
}
"""By pydantic's name of the fault: what a person reads."""


def _describe_error(fault: ErrorDetails) -> str:
    *above, last = fault["loc"]
    if fault["type"] == "extra_forbidden":
        part = _SECTIONS[above[0]] if above else ProjectConfig
        known = _keys(part)
        near = difflib.get_close_matches(str(last).lower().replace("_", "-"), known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        return f"{quote_value(last)} is not a known key{_describe_parent(above)} ({hint})"
    told = _MESSAGES.get(fault["type"], "").format(**fault.get("ctx", {})) or fault["msg"]
    return (
        f"{_format_key(fault['loc'])} {told}" if fault["type"] in _MESSAGES else f"{_format_key(fault['loc'])}: {told}"
    )


def _describe_parent(above: list[PathStep]) -> str:
    return f" of {_format_key(tuple(above))}" if above else ""


def _format_key(path: tuple[PathStep, ...]) -> str:
    """Such as `labels.allow`; what a person chose as a key is shown as text, what is our own word is not."""
    steps = [step for step in path if isinstance(step, str) and step != "[key]"]
    ours = {*_keys(ProjectConfig), *_keys(Labels), *_keys(Price)}
    return ".".join(step if step in ours else quote_value(step) for step in steps)


def _keys(part: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in part.model_fields.items()]
