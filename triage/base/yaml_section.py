"""Replaces one section of a YAML file and leaves every other character as it is, comments included."""

import yaml


def replace_section(text: str, key: str, section: str) -> str:
    """Return the text with `section`, which begins with the key, in place of the key's old section or at its end.

    `text` must be a block mapping that parses; the result is not checked. Raises ValueError for a mapping in braces.
    """
    root = yaml.compose(text, yaml.SafeLoader)
    newline = "\r\n" if "\r\n" in text else "\n"
    if root is None:
        return text + ("" if not text or text.endswith("\n") else newline) + section + newline
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise ValueError("not a block mapping")
    for name, value in root.value:
        if isinstance(name, yaml.ScalarNode) and name.value == key:
            return text[: name.start_mark.index] + section + text[_find_end(name, value) :]
    return text + ("" if text.endswith("\n") else newline) + section + newline


def _find_end(key: yaml.Node, value: yaml.Node) -> int:
    """Return the index behind the last character of a value, without the comments and blank lines after it."""
    if isinstance(value, yaml.MappingNode) and not value.flow_style and value.value:
        return _find_end(*value.value[-1])
    if isinstance(value, yaml.SequenceNode) and not value.flow_style and value.value:
        return _find_end(key, value.value[-1])
    if isinstance(value, yaml.ScalarNode) and not value.value and value.style is None:
        return int(key.end_mark.index) + 1  # nothing after the colon
    return int(value.end_mark.index)
