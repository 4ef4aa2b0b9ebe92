"""Parses YAML that people write for this project: strictly, with the line of every error, and without its surprises.

There are no tags, aliases or duplicate keys, and every scalar is a string.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from triage.base.text import quote_value, suggest_nearest

M = TypeVar("M", bound=BaseModel)

MAX_DEPTH = 6
MAX_PROBLEMS = 10
"""Maximum number of errors in the message; the others are counted."""
QUOTING_HINT = "put text that begins with *, &, @, ` or % in quotes"
NULL_SCALAR = re.compile(r"null|Null|NULL|~|")
"""Scalars without quotes that YAML's core schema reads as null."""

PathStep = str | int


class Problem(NamedTuple):
    line: int
    message: str


class InvalidYaml(Exception):
    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(problems)
        super().__init__(list_problems(self.problems))


def list_problems(problems: Sequence[Problem]) -> str:
    """Return the first problems with their lines, and how many more there are."""
    listed = "; ".join(f"line {problem.line}: {problem.message}" for problem in problems[:MAX_PROBLEMS])
    more = f"; and {len(problems) - MAX_PROBLEMS} more" if len(problems) > MAX_PROBLEMS else ""
    return f"{listed}{more}"


def decode_strictly(data: bytes, max_bytes: int) -> str:
    """Return the text of a file. Raises InvalidYaml when it is too large, or not UTF-8."""
    if len(data) > max_bytes:
        raise InvalidYaml([Problem(1, f"the file has {len(data):,} bytes; {max_bytes:,} are allowed")])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidYaml([Problem(data.count(b"\n", 0, error.start) + 1, "this is not UTF-8 text")]) from None


def parse_strictly(text: str, schema: type[M]) -> M | None:
    """Return the value in a YAML text; None if the text is empty.

    Raises:
        InvalidYaml: Everything that is wrong with it.
    """
    tree = _parse_yaml(text, ", ".join(_list_keys(schema)))
    if tree is None:
        return None
    problems = list[Problem]()
    try:
        value = schema.model_validate(_to_plain_data(tree, problems), by_alias=True, by_name=False)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        problems += [Problem(_find_line(tree, detail["loc"]), _describe_error(detail, schema)) for detail in details]
        raise InvalidYaml(problems) from None
    if problems:
        raise InvalidYaml(problems)
    return value


def _parse_yaml(text: str, known_keys: str) -> yaml.MappingNode | None:
    """The document as nodes, which know their lines; YAML constructs no values from them."""
    try:
        _check_events(text)
        node: yaml.Node | None = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InvalidYaml([Problem(mark.line + 1 if mark else 1, _describe_syntax_error(error))]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InvalidYaml([Problem(line, "YAML does not allow a character in this line")]) from None
    if node is None or node.tag == "tag:yaml.org,2002:null":
        return None
    if not isinstance(node, yaml.MappingNode):
        raise InvalidYaml([Problem(_node_line(node), f"the file needs keys: {known_keys}")])
    return node


def _check_events(text: str) -> None:
    """Refuse aliases and deep nesting, which would make the tree of a small text large."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if getattr(event, "anchor", None):  # an alias has one too
            raise InvalidYaml([Problem(line, QUOTING_HINT)])
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise InvalidYaml([Problem(line, f"more than {MAX_DEPTH} levels of nesting")])


def _describe_syntax_error(error: yaml.MarkedYAMLError) -> str:
    # The parser's message quotes one or two characters of the file.
    message = " ".join((error.problem or "").encode("ascii", "backslashreplace").decode().split())[:120]
    is_special_character = "cannot start any token" in message and "\\t" not in message
    if is_special_character or str(error.context).startswith(("while scanning an alias", "while scanning an anchor")):
        return f"{QUOTING_HINT} ({message})"
    return f"this is not YAML ({message})"


def _to_plain_data(node: yaml.Node, problems: list[Problem]) -> Any:
    """Return data with strings as the only scalars: a label `1.0` or `no` is not converted.

    `problems` gets what plain data hides: duplicate keys, keys that are not scalars, tags.
    """
    if not str(node.tag).startswith("tag:yaml.org,2002:") or str(node.tag).count("/"):
        problems.append(Problem(_node_line(node), "tags (!) are not allowed; put text that begins with ! in quotes"))
    if isinstance(node, yaml.SequenceNode):
        return [_to_plain_data(item, problems) for item in node.value]
    if isinstance(node, yaml.ScalarNode):
        return None if node.style is None and NULL_SCALAR.fullmatch(node.value) else node.value
    data: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        line, plain = _node_line(key), _to_plain_data(value, problems)
        if not isinstance(key, yaml.ScalarNode):
            problems.append(Problem(line, "a key must be a word"))
            continue
        if key.value in data:
            problems.append(Problem(line, f"duplicate key {quote_value(key.value)}, first in line {lines[key.value]}"))
        data[key.value] = plain
        lines.setdefault(key.value, line)
    return data


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


def _describe_error(error: ErrorDetails, schema: type[BaseModel]) -> str:
    sections = _list_sections(schema)
    known = {key for section in (schema, *sections.values()) for key in _list_keys(section)}
    if error["type"] == "extra_forbidden":
        return _describe_unknown_key(error["loc"], known, schema, sections)
    message = error["msg"].partition(" or instance of ")[0]
    return f"{_format_key(error['loc'], known)}: {message}"


def _describe_unknown_key(
    path: tuple[PathStep, ...],
    known: Container[str],
    schema: type[BaseModel],
    sections: Mapping[PathStep, type[BaseModel]],
) -> str:
    *parents, last = path
    keys = _list_keys(next((sections[step] for step in reversed(parents) if step in sections), schema))
    hint = suggest_nearest(str(last).replace("_", "-"), keys) or f"known keys: {', '.join(keys)}"
    section = f" of {_format_key(tuple(parents), known)}" if parents else ""
    return f"{quote_value(last)} is not a known key{section} ({hint})"


def _format_key(path: tuple[PathStep, ...], known: Container[str]) -> str:
    """Such as `labels.allow`, with keys that the user chose in quotes."""
    steps = [step for step in path if isinstance(step, str) and step != "[key]"]
    return ".".join(step if step in known else quote_value(step) for step in steps)


def _list_sections(schema: type[BaseModel]) -> dict[PathStep, type[BaseModel]]:
    """Return the schemas inside of a schema, by their keys."""
    sections: dict[PathStep, type[BaseModel]] = {}
    for name, field in schema.model_fields.items():
        for inner in (field.annotation, *get_args(field.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                sections |= {field.alias or name: inner, **_list_sections(inner)}
    return sections


def _list_keys(section: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in section.model_fields.items()]
