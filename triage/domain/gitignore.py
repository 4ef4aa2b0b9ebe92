"""A pattern of gitignore as a regular expression that takes linear time.

`pathspec` knows these patterns too, but matches them by backtracking: `*a*a*a*a*b` keeps its release 1.1.1 busy with
one name of 255 characters for twelve seconds.
"""

import re

_PIECE = re.compile(
    r"\\(?P<escaped>.)|(?P<stars>\*+)|(?P<any>\?)|\[(?P<negated>[!^]?)(?P<set>\]?(?:\\.|[^\]\\])*)\]|(?P<plain>.)", re.S
)
_ANYWHERE = "(?:[^/]+/)*?"
"""Folders, none at first."""
_LAST = "(?>(?:.*/(?=[^/]))?)"
"""All folders that the last component lies in."""
_WITHIN = re.compile(r"\\(.)|(.)", re.S)


def expression(pattern: str) -> str:
    """What matches, as a whole, the paths that the pattern names; a folder's path ends with a slash.

    A leading `!` is not part of it.

    Raises:
        ValueError: What is wrong with the pattern, in words for who wrote it.
    """
    folders_only = pattern.endswith("/")
    parts = pattern.removesuffix("/").split("/")
    if len(parts) == 1:
        parts = ["**", *parts]
    elif not parts[0]:
        del parts[0]
    if not all(parts):
        raise ValueError("nothing stands before, after or between its slashes")
    groups: list[list[str]] = [[]]
    for part in parts:
        if re.fullmatch(r"\*{2,}", part):
            groups.append([])
        else:
            groups[-1].append(_component(part))
    *front, last = groups
    # A group is atomic: where it fits first is as good as any later place, for what follows has `**` before it.
    written = "".join(
        f"(?>{_ANYWHERE if place else ''}{'/'.join(group)}/)" for place, group in enumerate(front) if group
    )
    reach = (_LAST if len(last) == 1 else _ANYWHERE) if front else ""
    whole = written + (reach + "/".join(last) if last else ".+") + ("/" if folders_only else "/?")
    try:
        re.compile(whole)
    except re.error:
        raise ValueError("what stands in its brackets is no range of characters") from None
    return whole


def _component(glob: str) -> str:
    """One name. What stands between two stars has a fixed length, so its first place is as good as any later one."""
    pieces = [""]
    for found in _PIECE.finditer(glob):
        if found["stars"]:
            pieces.append("")
        elif found["any"]:
            pieces[-1] += "[^/]"
        elif found["set"] is not None:
            pieces[-1] += f"(?!/)[{'^' if found['negated'] else ''}{_set(found['set'])}]"
        else:
            pieces[-1] += re.escape(_character(found))
    first, *others = pieces
    if not others:
        return first
    *middle, last = others
    return "(?=[^/])" + first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + "[^/]*" + last


def _character(found: re.Match[str]) -> str:
    if found["plain"] == "[":
        raise ValueError(r"a [ has no ] after it (write \[ for the character)")
    if found["plain"] == "\\":
        raise ValueError(r"it ends with a single \ ")
    return found["escaped"] or found["plain"]


def _set(inside: str) -> str:
    """Characters and ranges between brackets."""
    if "[:" in inside or "--" in inside:
        raise ValueError("classes such as [:alpha:] and ranges that begin with - are not known here")
    return "".join(plain if plain == "-" else re.escape(plain or escaped) for escaped, plain in _WITHIN.findall(inside))
