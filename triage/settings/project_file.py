"""Parses `.github/triage.yml`, and reports every error with its line."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from triage.domain.project_config import Labels, Price, ProjectConfig
from triage.errors import BadConfig
from triage.settings.field_checks import quote_value, suggest_nearest

MAX_BYTES = 64 * 1024
MAX_DEPTH = 6
MAX_PROBLEMS = 10
"""Maximum number of errors in the message; the others are counted."""
QUOTING_HINT = "put text that begins with *, &, @, ` or % in quotes"
NULL_SCALAR = re.compile(r"null|Null|NULL|~|")
"""Scalars without quotes that YAML's core schema reads as null."""

PathStep = str | int
_SECTIONS: Mapping[PathStep, type[BaseModel]] = {"labels": Labels, "prices": Price}


class Problem(NamedTuple):
    line: int
    message: str


class _InvalidYaml(Exception):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(line, message)


def parse_project_config(data: bytes, path: str) -> ProjectConfig:
    """The settings in a file's bytes. Raises BadConfig: one line that has every error with its line."""
    config, problems = _parse(data)
    if config is not None:
        return config
    problems.sort()
    listed = "; ".join(f"line {problem.line}: {problem.message}" for problem in problems[:MAX_PROBLEMS])
    more = f"; and {len(problems) - MAX_PROBLEMS} more" if len(problems) > MAX_PROBLEMS else ""
    raise BadConfig(path, problems[0].line, f"{path} cannot be used: {listed}{more}.")


def _parse(data: bytes) -> tuple[ProjectConfig | None, list[Problem]]:
    try:
        tree = _parse_yaml(data)
    except _InvalidYaml as error:
        return None, [error.problem]
    if tree is None:
        return ProjectConfig(), []
    problems = list(_find_invalid_nodes(tree))
    try:
        config = ProjectConfig.model_validate(_to_plain_data(tree), by_alias=True, by_name=False)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return None, problems + [
            Problem(_find_line(tree, detail["loc"]), _describe_error(detail)) for detail in details
        ]
    return (None, problems) if problems else (config, [])


def _parse_yaml(data: bytes) -> yaml.MappingNode | None:
    """The document as nodes, which know their lines; YAML constructs no values from them."""
    if len(data) > MAX_BYTES:
        raise _InvalidYaml(1, f"the file has {len(data):,} bytes; {MAX_BYTES:,} are allowed")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _InvalidYaml(data.count(b"\n", 0, error.start) + 1, "this is not UTF-8 text") from None
    try:
        _check_events(text)
        node: yaml.Node | None = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _InvalidYaml(mark.line + 1 if mark else 1, _describe_syntax_error(error)) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _InvalidYaml(line, "YAML does not allow a character in this line") from None
    if node is None or node.tag == "tag:yaml.org,2002:null":
        return None
    if not isinstance(node, yaml.MappingNode):
        raise _InvalidYaml(_node_line(node), f"the file needs keys: {', '.join(_keys(ProjectConfig))}")
    return node


def _check_events(text: str) -> None:
    """Refuse aliases and deep nesting, which would make the tree of a small text large."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if getattr(event, "anchor", None):  # an alias has one too
            raise _InvalidYaml(line, QUOTING_HINT)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _InvalidYaml(line, f"more than {MAX_DEPTH} levels of nesting")


def _describe_syntax_error(error: yaml.MarkedYAMLError) -> str:
    # The parser's message quotes one or two characters of the file.
    message = " ".join((error.problem or "").encode("ascii", "backslashreplace").decode().split())[:120]
    is_special_character = "cannot start any token" in message and "\\t" not in message
    if is_special_character or str(error.context).startswith(("while scanning an alias", "while scanning an anchor")):
        return f"{QUOTING_HINT} ({message})"
    return f"this is not YAML ({message})"


def _find_invalid_nodes(node: yaml.Node) -> Iterator[Problem]:
    """Find what a plain dict would hide: duplicate keys, keys that are not scalars, tags."""
    if not str(node.tag).startswith("tag:yaml.org,2002:") or str(node.tag).count("/"):
        yield Problem(_node_line(node), "tags (!) are not allowed; put text that begins with ! in quotes")
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _find_invalid_nodes(item)
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                yield Problem(_node_line(key), "a key must be a word")
            elif key.value in first:
                yield Problem(
                    _node_line(key), f"duplicate key {quote_value(key.value)}, first in line {first[key.value]}"
                )
            else:
                first[key.value] = _node_line(key)
            yield from _find_invalid_nodes(value)


def _to_plain_data(node: yaml.Node) -> Any:
    """Data with strings as the only scalars: a label `1.0` or `no` is not converted."""
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _to_plain_data(value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}
    if isinstance(node, yaml.SequenceNode):
        return [_to_plain_data(item) for item in node.value]
    assert isinstance(node, yaml.ScalarNode), "SafeLoader creates three kinds of nodes"
    return None if node.style is None and NULL_SCALAR.fullmatch(node.value) else node.value


def _find_line(node: yaml.Node, path: tuple[PathStep, ...]) -> int:
    """Line of the key or item at the end of the path, or of the last one on it that exists."""
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
    "string_type": "must be text",
    "list_type": "must be a list such as [one, two]",
    "dict_type": "must have keys and values",
    "model_type": "must have keys and values",
    "float_type": "must be a number such as 1.50",
    "float_parsing": "must be a number such as 1.50",
    "finite_number": "must be a number such as 1.50",
    "string_too_short": "must not be empty",
    "string_too_long": "has more than {max_length:,} characters",
    "too_long": "has more than {max_length:,} entries",
    "greater_than_equal": "must not be less than {ge:g}",
    "less_than_equal": "must not be more than {le:g}",
    "missing": "is missing",
}


def _describe_error(error: ErrorDetails) -> str:
    key, kind = _format_key(error["loc"]), error["type"]
    if kind == "extra_forbidden":
        return _describe_unknown_key(error["loc"])
    if kind in _MESSAGES:
        return f"{key} {_MESSAGES[kind].format(**error.get('ctx', {}))}"
    return f"{key}: {error['msg']}"


def _describe_unknown_key(path: tuple[PathStep, ...]) -> str:
    *parents, last = path
    known = _keys(_SECTIONS[parents[0]] if parents else ProjectConfig)
    hint = suggest_nearest(str(last).replace("_", "-"), known) or f"known keys: {', '.join(known)}"
    section = f" of {_format_key(tuple(parents))}" if parents else ""
    return f"{quote_value(last)} is not a known key{section} ({hint})"


def _format_key(path: tuple[PathStep, ...]) -> str:
    """Such as `labels.allow`, with keys that the user chose in quotes."""
    steps = [step for step in path if isinstance(step, str) and step != "[key]"]
    known = {*_keys(ProjectConfig), *_keys(Labels), *_keys(Price)}
    return ".".join(step if step in known else quote_value(step) for step in steps)


def _keys(section: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in section.model_fields.items()]
