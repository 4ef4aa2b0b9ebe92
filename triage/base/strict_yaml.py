"""Parses YAML that people write for this project: strictly, and without its surprises.

There are no tags, aliases or duplicate keys, and every scalar is a string. An error in a value has the line of the key
at the top of the file that it stands below.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from triage.base.text import quote_value, suggest_nearest

M = TypeVar("M", bound=BaseModel)

MAX_DEPTH = 6
MAX_PROBLEMS = 10
"""Maximum number of errors in the message; the others are counted."""
QUOTING_HINT = "put text that begins with *, &, !, @, ` or % in quotes"
NULL_SCALAR = re.compile(r"null|Null|NULL|~|")
"""Scalars without quotes that YAML's core schema reads as null."""


class InvalidYaml(Exception):
    """Everything that is wrong with a file, with the lines; `line` is the first of them."""

    def __init__(self, problems: Iterable[tuple[int, str]]) -> None:
        ordered = sorted(problems)
        listed = [f"line {line}: {message}" for line, message in ordered[:MAX_PROBLEMS]]
        more = [f"and {len(ordered) - MAX_PROBLEMS} more"] if len(ordered) > MAX_PROBLEMS else []
        super().__init__("; ".join([*listed, *more]))
        self.line = ordered[0][0]


def decode_strictly(data: bytes, max_bytes: int) -> str:
    """Return the text of a file. Raises InvalidYaml when it is too large, or not UTF-8."""
    if len(data) > max_bytes:
        raise InvalidYaml([(1, f"the file has {len(data):,} bytes; {max_bytes:,} are allowed")])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidYaml([(data.count(b"\n", 0, error.start) + 1, "this is not UTF-8 text")]) from None


def parse_strictly(text: str, schema: type[M]) -> M | None:
    """Return the value in a YAML text; None if the text is empty.

    Raises InvalidYaml: its first mistake in YAML, else everything that is wrong with it.
    """
    node, data = _load(text)
    if data is None:
        return None
    try:
        return schema.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        keys = node.value if isinstance(node, yaml.MappingNode) else []
        lines = {key.value: _find_line(key.start_mark) for key, _ in keys}
        details = error.errors(include_url=False, include_input=False)
        document = schema.model_json_schema()
        problems = [(lines.get((*one["loc"], "")[0], 1), _describe_error(one, document)) for one in details]
        raise InvalidYaml(problems) from None


class _StrictLoader(yaml.BaseLoader):
    """Refuses what would make the tree of a small text large, or say something else than it seems to."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Refuse tags, aliases, and what is nested too deeply."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) or getattr(event, "tag", None):  # an alias has an anchor too
            raise yaml.scanner.ScannerError(None, None, "tags and aliases are not allowed", event.start_mark)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            problem = f"more than {MAX_DEPTH} levels of nesting"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_scalar(self, node: yaml.ScalarNode) -> Any:
        return None if node.style is None and NULL_SCALAR.fullmatch(node.value) else node.value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that stands twice in a mapping."""
        found = set[str]()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in found:
                problem = f"duplicate key {quote_value(key.value)}"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            found.add(str(key.value))
        return super().construct_mapping(node, deep)


def _load(text: str) -> tuple[yaml.Node | None, Any]:
    """Return the document as a node, which knows its lines, and as data."""
    try:
        loader = _StrictLoader(text)
        node = loader.get_single_node()
        return node, loader.construct_document(node) if node else None
    except yaml.MarkedYAMLError as error:
        line = _find_line(error.problem_mark or error.context_mark)
        # The parser's message quotes one or two characters of the file.
        message = " ".join((error.problem or "").encode("ascii", "backslashreplace").decode().split())[:120]
        hint = f"; {QUOTING_HINT}" if isinstance(error, yaml.scanner.ScannerError) else ""
        raise InvalidYaml([(line, f"this YAML cannot be used ({message}){hint}")]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InvalidYaml([(line, "YAML does not allow a character in this line")]) from None


def _find_line(mark: Any) -> int:
    return int(mark.line) + 1 if mark else 1


def _describe_error(error: ErrorDetails, document: Mapping[str, Any]) -> str:
    """Return what is wrong and where. `document` is the JSON schema, which has the known keys."""
    sections, is_unknown = [document, *document.get("$defs", {}).values()], error["type"] == "extra_forbidden"
    known = [key for section in sections for key in section.get("properties", ())]
    steps = [step for step in error["loc"] if isinstance(step, str) and (is_unknown or step != "[key]")]
    path = ".".join(step if step in known else quote_value(step) for step in steps)  # other keys are the user's
    if is_unknown:
        hint = suggest_nearest(steps[-1].replace("_", "-"), known)
        return f"{path} is not a known key" + (f" ({hint})" if hint else "")
    message = error["msg"].partition(" or instance of ")[0]
    return f"{path}: {message}" if path else f"the file needs keys: {', '.join(document['properties'])}"
