"""Routes an issue: the labels of the repository that say what it is about, each with what says so."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from triage.domain.code import Place
from triage.domain.issue import AreaLabel, ParsedIssue
from triage.domain.past_issues import LearnedLabel, PastIssue
from triage.read.issue_forms import classify_field, load_yaml
from triage.read.kind_names import find_named_kind

LABELER = ".github/labeler.yml"
"""Globs of paths, as actions/labeler reads them. What github/issue-labeler finds, it puts on issues itself."""
_WORKFLOW = re.compile(
    r"\b(?:duplicate|invalid|won'?t ?fix|wontfix|stale|triaged?|status|good first|first|help wanted|in progress|"
    r"blocked|waiting|awaiting|backport|back-port|released?|milestone|resolved|fixed|verified|confirmed|unconfirmed|"
    r"needs?|more[- ]info\w*|info[- ]needed|reproduc\w+|priority|severity|p[0-5]|insiders?|locked|closed|hacktoberfest|"
    r"bounty|cla|outdated|rejected|accepted|author|regression|security|vulnerability)\b",
    re.IGNORECASE,
)
"""Labels that say how far somebody has come with an issue. Nothing in its text tells that. What is a regression or a
security report has signs of its own."""
_PREFIX = re.compile(r"(?:[^:/]{1,40}[:/] ?|(?:[a-z]|area|component|topic|product|module|os|platform)-)(?=\w)", re.I)
_LINE = re.compile(r"^[-*> ]{0,4}([^\n:]{2,80}?): *(\S[^\n]{0,60})$", re.M)
_MAX_VALUE_CHARS = 200
_MIN_CHANCE, _MIN_SEEN = 0.8, 3
"""That a word in a title means its label, and past titles that can tell."""
_GLOB_PART = re.compile(r"\*\*/|\*\*|\{[^{}]*\}|.", re.S)
_GLOB = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def choose_area_labels(
    parsed: ParsedIssue,
    labels: Sequence[str],
    rules: str,
    places: Sequence[Place],
    learned: Sequence[LearnedLabel] = (),
    past: Sequence[PastIssue] = (),
) -> list[AreaLabel]:
    """Return those of the labels that the form says, the project's own rules, the title, or what was learned.

    `rules` is the text of the project's `.github/labeler.yml`.
    """
    areas = {name.casefold(): name for name in labels if not _WORKFLOW.search(name.replace("_", " "))}
    by_topic: dict[str, str] = {}
    for name in sorted(areas.values(), key=len):
        by_topic.setdefault(_key(name), name)
        by_topic.setdefault(_key(_PREFIX.sub("", name, count=1) if _PREFIX.match(name) else name), name)
    by_topic.pop("", None)  # of a label that is an emoji
    candidates = [
        *((name, f"The form's field {field} says it", 1.0) for name, field in _find_in_form(parsed, by_topic)),
        *((name, reason, 1.0) for name, reason in _find_by_labeler_file(rules, places)),
        *_find_in_title(parsed.title, by_topic, past),
        *((one.name, "Similar issues of this repository carry it", one.probability) for one in learned),
    ]
    found: dict[str, AreaLabel] = {}
    for written, reason, probability in candidates:
        if area := areas.get(written.casefold()):
            found.setdefault(area, AreaLabel(name=area, reason=reason, probability=probability))
    return list(found.values())


def _key(text: str) -> str:
    return " ".join(re.sub(r":\w+:|[^\w+#]|_", " ", text.casefold()).split())


def _find_in_form(parsed: ParsedIssue, by_topic: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each label that a field of the form names, and the field."""
    fields = [(section.heading, section.text) for section in parsed.sections if len(section.text) <= _MAX_VALUE_CHARS]
    for field, text in (*fields, *_LINE.findall(parsed.prose)):
        # Where somebody has seen it is not what it is about.
        for value in re.split(r"[,\n]", text) if classify_field(field) not in ("environment", "version") else ():
            key = _key(re.sub(r"\[[xX]\]", "", value))
            name = by_topic.get(key) or by_topic.get(_key(value.partition("(")[0]))
            if name and "[ ]" not in value:
                yield name, field


def _find_by_labeler_file(text: str, places: Sequence[Place]) -> Iterator[tuple[str, str]]:
    """Yield each label that it maps to a file at fault, with the reason."""
    # The reporter may name any other file.
    failing = [place.span.path for place in places if place.sign in ("trace", "message", "quote")]
    for label, written in load_yaml(text).items():
        globs = [_translate_glob(glob) for glob in _list_globs(written)]
        if path := next((path for path in failing if any(re.fullmatch(glob, path) for glob in globs)), None):
            yield str(label), f"`{LABELER}` maps `{path}` to it"


def _list_globs(rule: Any) -> Iterator[str]:
    """Yield the globs of a label's rule of which one is enough: plain ones, and those of `changed-files`.

    A glob of an extension alone tells the language of a file, not what an issue is about.
    """
    for one in rule if isinstance(rule, list) else [rule]:
        if isinstance(one, str) and not re.match(r"!|(?:\*\*/)?\*+(?:\.|$)", one):
            yield one
        elif isinstance(one, dict) and "all" not in one:
            for key in ("any", "changed-files", "any-glob-to-any-file"):
                yield from _list_globs(one.get(key, []))


def _translate_glob(glob: str) -> str:
    """Return a regular expression for a glob, which may have braces."""
    return "".join(
        f"(?:{'|'.join(map(_translate_glob, part[1:-1].split(',')))})"
        if part.startswith("{") and len(part) > 1
        else _GLOB.get(part) or re.escape(part)
        for part in _GLOB_PART.findall(glob)
    )


def _find_in_title(
    title: str, topics: Mapping[str, str], past: Sequence[PastIssue]
) -> Iterator[tuple[str, str, float]]:
    """Yield the labels whose topic the title begins with, or has in several words, or as past titles had it.

    Of 256 issues of 34 repositories, 37 of 46 labels found so without past titles were right; of 101 labels that a
    title had elsewhere in one word, 58 were.
    """
    written = _key(title)
    for topic, name in topics.items():
        if not _names(title, topic) or find_named_kind(name):
            continue
        seen = [name in one.labels for one in past if one.labels and _names(one.title, topic)]
        # By Laplace's rule of succession: three of three are enough.
        chance = (sum(seen) + 1) / (len(seen) + 2)
        is_subject = " " in topic or written.startswith(f"{topic} ")
        if chance >= _MIN_CHANCE or (is_subject and len(seen) < _MIN_SEEN):
            yield name, f"The title says `{topic}`", max(chance, _MIN_CHANCE)


def _names(title: str, topic: str) -> bool:
    """Return whether a title has a topic in its words; a number alone is a version."""
    return re.search(r"[^\W\d]\w", topic) is not None and f" {topic} " in f" {_key(title)} "
