"""Finds which version of the project the report is about: a release or a commit."""

import re
from collections.abc import Iterator
from itertools import islice

from triage.base.text import word_set
from triage.domain.issue import IssueSection, ParsedIssue, Quote
from triage.read.text_signs import quote, shorten_to_ends
from triage.read.versions.versions import NOT_NAMES, PLATFORMS

_MAX_VALUE_CHARS = 120
_MAX_CANDIDATES = 40
_NUMBER = (
    r"[v^~]?\d{1,4}(?:\.(?:\d{1,8}|x)){1,4}(?:[-.+_]?(?:a|b|rc|alpha|beta|dev|pre|preview|post|canary|next|"
    r"nightly|insider|snapshot|release|lts|experimental|"
    r"final|git|g[0-9a-f]{6,}|[0-9a-f]{6,12}\b|\d{1,9}(?![\w.]))[\w.+-]{0,60})?"
)
_WHOLE_NUMBER = r"v?\d{1,4}\b(?![.,]?\d|\s?(?:%|ms|s|px|MB|GB|x)\b)"
_BETWEEN = (
    r"[\"'`)\]}*]{0,4}(?:\s{0,12}(?:[:=@,(|<>~^\[\]\"'`{}*-]{1,4}|versions?|release|ver\.?|v\.|is|was|at|tag|"
    r"current|latest)){0,5}\s{0,12}[\"'`(*]{0,3}"
)
_AFFIX = re.compile(
    r"^(?:python|py|node|go|lib|the|apache|scikit)[-_.]|[-_.](?:js|py|rs|go|java|cpp|core|cli|lang|python|net)$"
)
"""Of a project's name, which packages leave out."""
_IN_HEADING = re.compile(r"(?i)\bversions?\b|\brelease\b")
_PLATFORM_WORDS = PLATFORMS | word_set(
    "browser compiler bazel gpu cudnn mobile device operating system environment jupyter language framework "
    "go rust scala kotlin swift typescript elixir erlang ghc lua julia r"
)
_NO_NOUNS = NOT_NAMES | word_set(
    "app application plugin program extension package product client server library official unmodified yes found here "
    "new tested it affected updated upgraded downgraded reproduced all any exact same after only newer older earlier "
    "previous affects no your which what specify"
)
"""Before the word `version`: what names no other program."""
_LABELLED = re.compile(
    r"(?im)^[\s>*#_`|-]{0,8}(?:(?P<name>[\w .()/-]{0,40}?)[ _]?)?\bversion\b"
    r"(?: used| number| ?\([^()\n]{1,60}\))?[*_`)]{0,3}[ ]?[:=|"
    r"](?!=)(?:[*_` |]{0,6}|[*_` ]{0,6}\n\s{0,6}(?=`?v?\d))(?P<value>[^\s|*`\"'][^\n|]{0,100})"
)
_STATED = re.compile(
    rf"(?i)\b(?:versions?|release|ver\.?|v\.?(?= \d)|versi[oó]n|vers[aã]o|versione|versie|"
    rf"верси[яиюей]{{1,2}}|版本|バージョン|버전)s?[\s:=*`\"'(<>~^]{{0,6}}(?P<value>{_NUMBER})"
    rf"|\b(?:app|application|plugin|program|extension) (?:version|build)[:= ]{{1,3}}(?P<whole>{_WHOLE_NUMBER})"
    rf"|(?<![\w.-])(?P<before>{_NUMBER}) version\b(?! of (?:{'|'.join(map(re.escape, sorted(PLATFORMS)))})\b)"
)
_COMMIT = re.compile(
    r"(?i)\b(?:commit|sha|rev(?:ision)?|hash|HEAD(?: is| at)*|master|main|trunk|develop|version|built from|"
    r"sources?|git)\W{1,4}"
    r"(?P<value>(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40})(?![\w-])|(?<![\w/-])(?P<whole>[0-9a-f]{40})(?![\w-])"
)
_SINCE = r"(?i)\b(?:since|until|before|prior to|than)\W{1,3}(?:version )?v?"
"""A version that stands only behind these is that of something older."""
_ALONE = re.compile(rf"(?i)[\s`*]{{0,4}}(?P<value>{_NUMBER})[\s`*]{{0,4}}$")


def find_project_version(parsed: ParsedIssue, project: str, works: str = "") -> Quote | None:
    """Return the version as it is written, from the most reliable place; None without one.

    `project` is `owner/name`, or empty; `works` the version that has no fault, which is another one.
    """
    other = works.removeprefix("v")
    for words in islice(_list_candidates(parsed, project), _MAX_CANDIDATES):
        value = words.strip("`*_\"'|-+> \t").rstrip(".,;:")
        is_ours = re.search(r"\w", value) and value.removeprefix("v") != other
        of_history = len(re.findall(_SINCE + re.escape(value), parsed.text))
        is_ours = is_ours and (not of_history or of_history < parsed.text.count(value))
        if is_ours and (place := quote(parsed, value[:_MAX_VALUE_CHARS])):
            return place
    return None


def _list_candidates(parsed: ParsedIssue, project: str) -> Iterator[str]:
    """Yield words that may be the version, those of the most reliable place first."""
    text, prose = (shorten_to_ends(one) for one in (parsed.text, parsed.prose))
    written = f"{parsed.title}\n\n{prose}"
    names = list(_project_names(project))
    for section in sorted(parsed.sections, key=lambda one: _rank_heading(one.heading, names)):
        yield from _find_below_heading(section, names)
    for source in (written, text):  # what an example says comes last
        for match in _LABELLED.finditer(source):
            if _is_of_project(match["name"] or "", names):
                yield match["value"]
        yield from _find_behind_names(source, names)
    for match in _STATED.finditer(written):
        if _is_of_project(written[max(0, match.start() - 40) : match.start()], names):
            yield match[match.lastgroup or 0]
    yield from (version for version in parsed.versions if " " not in version)
    yield from _find_alone(prose)
    yield from (match[match.lastgroup or 0] for match in _COMMIT.finditer(prose))


def _find_below_heading(section: IssueSection, names: list[str]) -> Iterator[str]:
    """Yield what stands for the version below a heading that asks for it."""
    words = re.findall(r"[\w.+-]+", section.heading.lower())
    is_ours = _PLATFORM_WORDS.isdisjoint(words) or any(name in _squeeze(section.heading) for name in names)
    before = _IN_HEADING.split(section.heading, maxsplit=1)
    if len(before) < 2 or not is_ours or not _is_of_project(before[0], names):
        return
    lines = [line.strip() for line in section.text[:2_000].split("\n") if re.search(r"\w", line) and "```" not in line]
    named = [line for line in lines if any(name in _squeeze(line) for name in names)]
    yield from (match[0] for line in named for match in [re.search(_NUMBER, line)] if match)
    own = [line for line in lines if not set(re.findall(r"[a-z]+", line.lower())) & _PLATFORM_WORDS]
    for line in own[:1]:
        if len(line) <= _MAX_VALUE_CHARS and re.search(r"\d|master|main|latest|nightly|HEAD|trunk", line):
            yield line


def _is_of_project(before: str, names: list[str]) -> bool:
    """Return whether the version behind these words is the project's: it belongs to the noun before it."""
    words = re.findall(r"[\w.+#-]+", before.rpartition("\n")[2].lower())[-4:]
    if not words or any(name in _squeeze("".join(words)) for name in names):
        return True
    return (words[-1] in _NO_NOUNS or words[-1].isdigit()) and words[-2:-1] != ["my"]


def _rank_heading(heading: str, names: list[str]) -> int:
    """Return the lower number for the surer heading: what the project depends on may be named like its owner."""
    found = _IN_HEADING.search(heading)
    is_named = bool(names) and names[0] in _squeeze(heading)
    return 0 if is_named else 1 if found and _is_of_project(heading[: found.start()], names) else 2


def _find_behind_names(text: str, names: list[str]) -> Iterator[str]:
    """Yield the versions behind a name of the project, however it is spelled: `jib 3.4.0`, `ji-b: 3.4`."""
    for number in (
        rf"[\w-]{{0,40}}?(?:{_BETWEEN}|[-_@/])(?P<value>{_NUMBER})",
        rf"(?: core| versions?|:| v\.?| =){{0,3}}(?: |(?<=[:= v])(?=\d))(?P<value>{_WHOLE_NUMBER})",
    ):
        for name in names:
            spelled = r"[\W_]?".join(map(re.escape, name))
            yield from (match["value"] for match in re.finditer(rf"(?i)(?<![A-Za-z]){spelled}{number}", text))


def _find_alone(prose: str) -> Iterator[str]:
    """Yield a number on a line of its own: it answers a template's hidden question, but not below a heading."""
    above = ""
    for line in prose.split("\n"):
        match = _ALONE.match(line[:_MAX_VALUE_CHARS])
        if match and not above.startswith("#"):
            yield match["value"]
        above = line if line.strip() else above


def _project_names(project: str) -> Iterator[str]:
    """Yield the name without separators; also without an affix that packages leave out."""
    owner, _, name = project.lower().rpartition("/")
    squeezed = _squeeze(name)
    if len(squeezed) >= 2:
        yield squeezed
    bare = _squeeze(_AFFIX.sub("", name))
    if bare != squeezed and len(bare) >= 3:
        yield bare
    if squeezed.startswith("scikit") and len(squeezed) > 6:
        yield f"sk{squeezed[6:]}"
    if len(owner) >= 3 and owner != name and owner not in _PLATFORM_WORDS:  # of a language, its owner has many
        yield _squeeze(owner)


def _squeeze(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())
