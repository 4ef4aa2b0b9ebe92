"""Finds the sentence that says that something worked before, in which versions, and the two commits between them.

One rule reads the versions: each belongs to the word of working or of failing that stands beside it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from triage.domain.code import Tag
from triage.domain.issue import IssueFacts, ParsedIssue, Regression
from triage.read.text_signs import MAX_CHARS, find_sentences, quote
from triage.read.versions.versions import PLATFORMS, find_previous_tag, find_tag, parse_version

_VERSION = (
    r"(?:(?:v\d{1,6}|\d{1,4}\.(?:\d{1,6}|x))(?:\.\d{1,6}|\.x){0,3}"
    r"(?:[-.]?(?:a|b|rc|alpha|beta|dev|pre|post)[\w+-]{0,30})?"
    r"(?!\w|\.\d|(?:[-–]\d{1,4})?\s?(?:s|ms|sec|seconds|%|MB|GB|x)\b)"
    r"|(?=[0-9]{0,39}[a-f])(?=[a-f]{0,39}\d)[0-9a-f]{7,40}\b)"
)
_MENTION = re.compile(
    rf"(?<![\w./-])(?:(?P<name>[A-Za-z][\w.@/-]{{0,40}}) )?(?:(?:version|release|commit|ver\.?|v\.?) ?)?"
    rf"[`'\"(*<>=≤≥ ]{{0,6}}(?<![\w./-])(?P<version>{_VERSION})",
    re.I,
)
_NOT = r"(?:not|\w+n['’]t|never|no longer|cannot)"
_HAPPENS = r"(?:happen|occur|appear|reproduc|affect|fail|crash|break|the case|the problem|an? (?:problem|issue))\w*"
_WELL = r"(?:fine|ok|okay|good|stable|correct(?:ly)?|right|faster|saner|possible|as expected)"
_CUES = re.compile(
    # What follows is the version in which it worked.
    r"(?P<worked_in>\b(?:(?:downgrad|revert|roll)\w*(?: \S{1,30}){0,4}? to|until|up to|than|as it was (?:for|in)|"
    r"\b(?:is|are|be) (?:\w+ )?as (?:in|with)|"
    r"last (?:known )?(?:good|working|stable)(?: version| release| commit)?(?: is| was)?:?|regress(?:ion|ed) from))"
    # What follows is the version in which it is broken.
    r"|(?P<broken_in>\b(?:since|after|(?:starting|beginning) (?:with|from|in)|"
    r"as of(?! v?\d\S{1,20} (?:\w+ ){0,2}(?:was|were|worked)\b.{1,60}\bbut since v?\d)|"
    r"(?:introduced|regress(?:ion|ed)|broken?|chang(?:ed|es)) (?:in|by|with|since|after)|"
    r"(?:appear|start|begin|show|happen|occur|take)(?:s|ed)?(?: up| place)? (?:only )?(?:in|with|since|after|from)|"
    r"(?:updat|upgrad)\w*(?: \S{1,30})?(?: from \S{1,30})? to)\b)"
    r"|(?P<opposite>\bbut not\b)"
    # What stands beside the version, before it or after it.
    rf"|(?P<fine>\b(?:un|{_NOT} (?:\w+ )?){_HAPPENS}|\bno (?:such )?(?:error|fail|problem|issue|bug|crash)\w*|"
    r"\b(?:disappear\w*|(?:went|goes) away|fixe[sd]|solve[sd]|succeed\w*|worked|works?|passe[sd]|behave[sd]|"
    rf"(?:was|were) (?:\w+ )?{_WELL}|saner|had no)\b)"
    rf"|(?P<good>\b{_WELL}\b|✅)"
    r"|(?P<breaks>\b(?:breaks|broke|has broken)\b)"
    rf"|(?P<bad>{_NOT}\b(?! (?:in|with|on|for|since)\b)(?: \w+){{0,2}}|❌|\b(?:fail\w*|broken|crash\w*|hangs|throws?|"
    r"raises?|complains?|errors?|wrong|incorrect|unstable|slower|worse|affected|happens|occurs|stopped|different)\b)",
    re.I,
)
_MOST_WORDS_BEFORE, _MOST_WORDS_AFTER = 4, 6
"""Between a word of working or failing and its version."""
_BETWEEN = re.compile(
    r"\b(?:between|from) (?:[A-Za-z][\w-]{0,30} )?(?:version )?[`'\"]?"
    rf"(?P<worked>{_VERSION}|\d{{1,3}}(?![\w.]))[`'\"]?(?: \([^()]{{1,20}}\))? (?:and|to) "
    rf"(?:[a-z][\w-]{{0,30}} )?[`'\"]?(?P<broken>{_VERSION})",
    re.I,
)
_CHANGE = re.compile(r"(?i)\b(?:regress\w+|chang\w+|broke\w*|introduced|appeared|happened|upgrad\w+|updat\w+)\b")
_TROUBLE = re.compile(
    r"(?i)\b(?:errors?|fail\w*|broke\w*|breaks?|crash\w*|hang\w*|wrong\w*|differen\w+|chang\w+|cannot|can't|"
    r"unable|receiv\w+|happen\w*|"
    r"problem|issue|bug|warn\w*|slow\w*|not|n't|incorrect\w*|regress\w*)\b"
)
_CULPRIT = r"\b(?:PR|pull request|commit|change) that (?:made|caused|introduced|broke)\b"
_SURE = re.compile(
    r"\b(?:used to (?:work|be possible|be able|pass)|worked (?:\w+ )?(?:before|previously|earlier|until|yesterday|"
    r"last)|(?:has|have) (?:always |previously )?worked|"
    r"(?:it|this|that|which|everything|all|these|those) (?:was|were) working(?! (?:on|through|towards?|with|for|as)\b)|"
    r"no longer (?:works?|starts?|runs?|"
    r"builds?|compiles?|loads?|connects?|passe?s?)|(?:not|n['’]t) \w+ (?:\w+ ){0,4}any ?more\b|"
    r"(?<!has )stopped working|"
    rf"{_CULPRIT}|"
    r"(?:this|it|that) is a regression|\bregression (?:in|from|since|introduced|caused|of)|(?:git )?bisect(?:ed|"
    r"ing|s)? (?:\w+ ){0,3}(?:to|shows?|points?|says?|gives?|found|blames?)|"
    r"(?:first )?bad commit|"
    r"reverting [`(]?(?:[0-9a-f]{7,40}|#\d+|that|this|the)\b[^.]{0,60}(?:fix|solve|help|"
    r"work|resolve)\w*|regressed)",
    re.I,
)
"""Words that tell a regression without a version."""
_UPDATED = re.compile(
    r"\b(?:(?:after|since|following|with) (?:the|my|our|this|a|last) (?:\w+ )?"
    r"(?:update|upgrade)\b(?! (?:an?|the|its|his|my|your|our|their)\b)|"
    r"(?:after|since|when|having)(?: i| we)? upgrad(?:e|ed|ing)\b|"
    r"(?:after|since|when|having)(?: i| we)? updat(?:ed|ing) (?:\w+ ){0,2}(?:app\w*|version|packages?|librar\w+|"
    r"dependenc\w+|plugins?|extensions?|drivers?|os|system|sdk|software|browser|client|server|to|from)\b)",
    re.I,
)
_COMMIT = re.compile(r"(?<![\w/])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_PULL_REQUEST = re.compile(
    r"(?<![\w/])#\d{1,7}\b|(?:github\.com/[\w.-]{1,100}/[\w.-]{1,100}/|(?<![\w/]))pull/\d{1,7}\b"
)
_BLAMES = re.compile(
    r"(?i)first bad commit|\b(?:bisect|culprit|reverting\b)"
    r"|\b(?:introduced|broken|broke|caused|regressed|regression) (?:in|by|with|since)"
    r" (?:(?!same\b|bug\b|issue\b)\w+ ){0,3}?\W{0,2}(?:#\d|PR\b|commit\b|pull\b|https?:|[0-9a-f]{7,40}\b)"
    rf"|{_CULPRIT}"
)
_CLEARS = re.compile(r"(?i)\b(?:good|works?|worked|working)\b")
_HELPS_NOT = re.compile(r"(?i)(?:\bnot|n['’]t) (?:fix|help|solve|change)")
"""What a sentence about a commit says that does not blame it: the last good one, or one whose revert helps nothing."""
_MAX_SENTENCES = 200
_NOT_PROJECTS = PLATFORMS | {"section", "step", "line", "figure", "chapter", "page", "port", "jdk17", "x86"}


_BEFORE_VERSION = ("worked_in", "broken_in", "opposite")
"""What stands before its version only."""


@dataclass(frozen=True)
class _Mention:
    """A version in a sentence, and what is said of it."""

    version: str
    works: bool
    cue: str
    """Name of the group of `_CUES`."""


def find_regression(parsed: ParsedIssue) -> Regression | None:
    """Return what worked before: the sentence that tells it, and versions of others; None if nothing did."""
    sentences = [parsed.title, *find_sentences(parsed.prose[:MAX_CHARS])][:_MAX_SENTENCES]
    read = [(sentence, list(_read_versions(sentence))) for sentence in sentences]
    found = [one for sentence, mentions in read if (one := _find_in_sentence(parsed, sentence, mentions)) is not None]
    if not found:
        return None
    best = max(found, key=lambda one: bool(one.worked_in) + bool(one.broken_in))
    every = [mention for _, mentions in read for mention in mentions]
    worked = best.worked_in or _first([one.worked_in for one in found], [one.version for one in every if one.works])
    broken = best.broken_in or _first([one.broken_in for one in found if one.broken_in != worked])
    if worked and not broken:
        broken = _first([one.version for one in every if not one.works and one.version != worked])
    return best.model_copy(update={"worked_in": worked if worked != broken else "", "broken_in": broken})


def _first(*groups: Sequence[str]) -> str:
    return next((version for group in groups for version in group if version), "")


def _read_versions(sentence: str) -> Iterator[_Mention]:
    """Yield each version of the project with the word of working or failing beside it."""
    mentions: list[re.Match[str]] = []
    is_platform = False
    for match in _MENTION.finditer(sentence):
        name = (match["name"] or "").lower().rstrip(":")
        # `python 3.9, not 3.7`: the second one has no name of its own.
        goes_on = is_platform and not mentions and name in ("", "not", "and", "or", "than")
        is_platform = name in _NOT_PROJECTS or goes_on
        if not is_platform:
            mentions.append(match)
    cues = list(_CUES.finditer(sentence))
    previous: _Mention | None = None
    end = 0
    for position, match in enumerate(mentions):
        start, stop = match.start("version"), match.end("version")
        following = mentions[position + 1].start() if position + 1 < len(mentions) else len(sentence)
        before = [cue for cue in cues if end <= cue.start() and cue.end() <= start]
        after = [cue for cue in cues if stop <= cue.start() < following and cue.lastgroup not in _BEFORE_VERSION]
        cue = _choose_cue(sentence, match.start(), stop, before[-1:], after[:1])
        name = (cue.lastgroup or "") if cue else ""
        if name == "opposite":
            name = "fine" if previous and not previous.works else "bad"
        if name:
            previous = _Mention(match["version"].rstrip("."), name in ("worked_in", "fine", "good"), name)
            yield previous
        end = stop


def _choose_cue(
    sentence: str, start: int, stop: int, cues_before: list[re.Match[str]], cues_after: list[re.Match[str]]
) -> re.Match[str] | None:
    """Return the cue before the version if only a few words are between, else the one after it, else any before it.

    In `1.2 works, 1.3 fails` the one after it is nearer.
    """
    left = sentence[cues_before[0].end() : start] if cues_before else ""
    right = len(sentence[stop : cues_after[0].start()].split()) if cues_after else _MOST_WORDS_AFTER + 1
    is_apart = right <= 1 and re.search(r"[,;:]", left) is not None
    if cues_before and len(left.split()) <= _MOST_WORDS_BEFORE and not is_apart:
        return cues_before[0]
    return cues_after[0] if right <= _MOST_WORDS_AFTER else None


def _find_in_sentence(parsed: ParsedIssue, sentence: str, mentions: Sequence[_Mention]) -> Regression | None:
    """Return what a sentence says of versions that worked and failed; None if it tells no regression."""
    is_sure = _SURE.search(sentence) is not None or _UPDATED.search(sentence) is not None
    between = _BETWEEN.search(sentence) if is_sure or _CHANGE.search(sentence) else None
    if between and not _is_platform(sentence, between.start("worked")):
        worked, broken, is_told = between["worked"], between["broken"], True
    else:
        worked = _first([one.version for one in mentions if one.works])
        broken = _first([one.version for one in mentions if not one.works and one.version != worked])
        is_told = _tells_change(sentence, mentions, has_both_versions=bool(worked and broken))
    commit = _COMMIT.search(sentence) or _PULL_REQUEST.search(sentence)
    is_blamed = commit and _BLAMES.search(sentence) and not _CLEARS.search(sentence)
    if not (is_sure or is_told or is_blamed) or (commit and _HELPS_NOT.search(sentence)):
        return None
    if commit and is_blamed and (not broken or _COMMIT.fullmatch(worked)):
        broken = re.sub(r"/?pull/", "#", commit[0]).removeprefix("github.com/")
        worked = "" if worked == broken else worked
    place = quote(parsed, sentence)
    return Regression(worked_in=worked, broken_in=broken, quote=place) if place else None


def _is_platform(sentence: str, start: int) -> bool:
    words = re.findall(r"[A-Za-z][\w.+-]*", sentence[max(0, start - 30) : start])
    return any(word.lower() in _NOT_PROJECTS for word in words[-2:])


def _tells_change(sentence: str, mentions: Sequence[_Mention], *, has_both_versions: bool) -> bool:
    """Return whether it says that something changed: not "It fails in 1.2", unless another version worked."""
    cues = {one.cue for one in mentions}
    is_since = "broken_in" in cues and _TROUBLE.search(sentence) is not None
    return has_both_versions or is_since or bool(cues & {"worked_in", "fine", "breaks"})


HEAD = "HEAD"
ResolveCommit = Callable[[str], str | None]
"""Return the full id of a commit that is written in hexadecimal, or of a pull request such as `#12`."""
_COMMIT_ALONE = re.compile(r"(?:^|-\d{1,6}-g|\+g?)((?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40})$")
"""Alone, or behind a version: `1.1.0-2-gabcdef5` as `git describe` writes it, `0.12.0-dev.411+1bfb8a0`."""


def choose_versions(
    facts: IssueFacts, tags: Sequence[Tag], head: str, resolve: ResolveCommit
) -> tuple[Tag, Tag] | None:
    """Return the version that worked and the one that does not; None without a regression, or if either is unknown.

    A report that says "since the update" names one version at most: the other one is the release before it, or `head`,
    the indexed commit.
    """
    if facts.regression is None:
        return None
    worked_text, broken_text = facts.regression.worked_in, facts.regression.broken_in
    if broken_text.startswith("#"):
        if commit := resolve(broken_text):
            return _pair_with_parent(Tag(name=broken_text, commit=commit), resolve)
        broken_text = ""  # an issue, or of another repository
    is_blamed = bool(broken_text)
    broken_text = broken_text or (facts.version.text if facts.version else "")
    worked = resolve_version(worked_text, tags, resolve, last=True)
    broken = resolve_version(broken_text, tags, resolve) if broken_text else Tag(name=HEAD, commit=head)
    is_said = is_blamed or _UPDATED.search(facts.regression.quote.text) is not None
    if worked is None and not worked_text and broken is not None and broken in tags:
        # "This is a regression" says nothing of when it worked.
        worked = find_previous_tag(broken, tags) if is_said else None
    elif worked is None and not worked_text and broken is not None and is_blamed:
        return _pair_with_parent(broken, resolve)
    if worked is None or broken is None or worked.commit == broken.commit or _is_later(worked, broken):
        return None
    return worked, broken


def _pair_with_parent(blamed: Tag, resolve: ResolveCommit) -> tuple[Tag, Tag] | None:
    """Return the commit before the one that the report blames, and that one."""
    parent = resolve(f"{blamed.commit}^1")
    return (Tag(name=f"{blamed.name}^", commit=parent), blamed) if parent and parent != blamed.commit else None


def _is_later(worked: Tag, broken: Tag) -> bool:
    """Return whether the version that works is the younger one: then it was fixed, and nothing broke."""
    one, other = parse_version(worked.name), parse_version(broken.name)
    return bool(one and other and one.prefix == other.prefix and one.numbers > other.numbers)


def resolve_version(written: str, tags: Sequence[Tag], resolve: ResolveCommit, *, last: bool = False) -> Tag | None:
    """Return the tag or the commit that a report's words name; None if there is none here."""
    for word in (one.strip("`'\"()[],;") for one in written.split()):
        if written_commit := _COMMIT_ALONE.search(word.lower()):
            commit = resolve(written_commit[1])
            return Tag(name=written_commit[1][:12], commit=commit) if commit else None
        if tag := find_tag(word, tags, last=last):
            return tag
    return None
