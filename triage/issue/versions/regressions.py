"""Finds the sentence that says that something worked before, in which versions, and the two commits between them."""

import re
from collections.abc import Callable, Sequence

from triage.domain.code import Tag
from triage.domain.issue import ParsedIssue, Regression, ReportFacts
from triage.issue.text_signs import MAX_CHARS, find_sentences, quote
from triage.issue.versions.versions import PLATFORMS, find_previous_tag, find_tag, parse_version

_VERSION = (
    r"(?P<{0}>(?:v\d{{1,6}}|\d{{1,4}}\.(?:\d{{1,6}}|x))(?:\.\d{{1,6}}|\.x){{0,3}}"
    r"(?:[-.]?(?:a|b|rc|alpha|beta|dev|pre|post)[\w.+-]{{0,30}})?(?!\d|(?:[-–]\d{{1,4}})?\s?(?:s|ms|sec|seconds|%|MB|GB|x)\b)"
    r"|(?=[0-9]{{0,39}}[a-f])(?=[a-f]{{0,39}}\d)[0-9a-f]{{7,40}}\b)"
)
_NAME = (
    r"(?:(?:the |our )?(?P<{0}>[A-Za-z][\w.@/-]{{0,40}}) )?(?:(?:version|release|commit|v\.?|ver\.?) "
    r"?)?[`'\"(*]{{0,3}}"
)
_WORKED = (
    r"\b(?<!not )(?<!n't )(?<!never )(?<!longer )(?:(?<!my )(?<!the )(?<!our )(?<!of )works?|worked|working|"
    r"behaves?|behaved|passe[sd]|"
    r"(?:is|was|were|are|be) (?:\w+ )?(?:fine|ok|okay|good|stable|correct|faster|possible)|"
    r"(?:not|never) (?:\w+ )?the (?:case|problem|issue)|no (?:such )?(?:problem|issue|error|bug)s?|"
    r"(?:slower|larger|worse) than|(?:downgrad|revert|roll)(?:e|ed|ing|s)?(?: back)?(?: \S{1,30})? to|"
    r"pin(?:ned|ning)?(?: \S{1,30}){1,3} to|only until|"
    r"until|regress(?:ion|ed) from)"
)
_SINCE = (
    r"\b(?:since|as of|prior to|starting (?:with|from|in)|beginning with|introduced (?:in|by|with)|regress(?:ion|"
    r"ed) (?:in|since)|"
    r"broke(?:n)? (?:in|by|since|with|after)|chang(?:ed|es) (?:in|since|with))"
)
_BROKEN = (
    r"\b(?:(?:updat|upgrad)(?:e|ed|ing) (?:\S{1,30} )?(?:from \S{1,30} )?(?:to)?|after|"
    r"(?:fails?|failing|failed|crash(?:es|ed)?|hangs?|breaks?|happens?|occurs?|takes? place|wrong|slow(?:er)?|changed|"
    r"different|"
    r"(?:does|is|do|are|was)(?:n't| not)(?: \w+)?|but not|no longer \w+) (?:in|with|on|since|after|using|under|from))"
)
_IN = r"(?: (?!(?:but|and|yet|however)\b)[\w,]{1,12}){0,3}?(?: (?:in|with|on|under|using|for|at))? "
_SINCE_VERSION = re.compile(_SINCE + r" " + _NAME.format("broken_name") + _VERSION.format("broken"), re.I)
_BROKEN_IN = re.compile(_BROKEN + r" (?:in |with )?" + _NAME.format("broken_name") + _VERSION.format("broken"), re.I)
_IS_BROKEN = re.compile(
    _NAME.format("broken_name")
    + _VERSION.format("broken")
    + r"[`'\")*]{0,3} (?:is (?:much |\w+ )?(?:broken|slower|unstable|affected)|(?:much )?slower|"
    r"fails|crashes|hangs|breaks|throws|complains|raises|gives|returns|does(?:n't| not)|no longer)\b",
    re.I,
)
_WORKED_IN = re.compile(_WORKED + _IN + _NAME.format("worked_name") + _VERSION.format("worked"), re.I)
_OR_OLDER = r"(?: (?:and|or) (?:lower|below|earlier|older|before|prior|previous(?: versions?)?))?"
_IS_FINE = re.compile(
    _NAME.format("worked_name")
    + _VERSION.format("worked")
    + rf"[`'\")*]{{0,3}}{_OR_OLDER} (?:(?:still )?(?:works|worked)|(?:is|was|se[ae]ms?(?: to be)?) (?:still )?(?:fine|"
    r"ok|okay|good|stable|correct|not affected|unaffected)"
    r"|(?:had no|did(?:n't| not)|does(?:n't| not) have) )",
    re.I,
)
_FROM = re.compile(r"\bfrom " + _NAME.format("worked_name") + _VERSION.format("worked") + r"[`'\")*]{0,3} to ", re.I)
_SAID_BROKEN = (_SINCE_VERSION, _IS_BROKEN, _BROKEN_IN)
_TO = re.compile(r"\bfrom \S{1,30} to " + _NAME.format("broken_name") + _VERSION.format("broken"), re.I)
_TROUBLE = re.compile(
    r"(?i)\b(?:errors?|fail\w*|broke\w*|breaks?|crash\w*|hang\w*|wrong\w*|differen\w+|changed|cannot|can't|"
    r"unable|receiv\w+|happen\w*|"
    r"problem|issue|bug|warn\w*|slow\w*|not|n't|incorrect\w*|regress\w*)\b"
)
_REASON = re.compile(
    r"(?i)\bsince (?:\S{1,30} )?v?\d[\w.]{0,20} (?:supports?|has|have|is|was|uses?|does|can|will|already|comes|ships)\b"
)
"""`Since 4.4 supports it, I tried`: no time."""
_FEATURE = re.compile(
    r"(?i)\b(?:available|supported|supports|exists?|deprecated|removed|added|documented|new|possible|required) "
    r"(?:only )?(?:since|as of|in|from)\b"
)
_SURE = re.compile(
    r"\b(?:(?<!i )(?<!we )(?<!is )(?<!are )(?<!be )(?<!was )(?<!you )(?<!options )"
    r"(?<!flags )(?<!command )(?<!commands )(?<!code )(?<!script )(?<!tools )(?<!compiler )used to (?:work|"
    r"be possible|be able|pass|compile|"
    r"build|start|run)|worked (?:fine |well |ok |perfectly |correctly )?(?:before|previously|"
    r"earlier|until|yesterday|last)|(?:has|have) (?:always |previously )?worked|"
    r"(?:it|this|that|which|everything|all|these|those) (?:was|were) working(?! (?:on|through|towards?|with|for|as)\b)|"
    r"no longer (?:works?|starts?|runs?|"
    r"builds?|compiles?|loads?|connects?|passe?s?)|(?:not|n['’]t) \w+ (?:\w+ ){0,4}any ?more\b|"
    r"(?<!has )stopped working|"
    r"(?:this|it|that) is a regression|\bregression (?:in|from|since|introduced|caused|of)|(?:git )?bisect(?:ed|"
    r"ing|s)? (?:\w+ ){0,3}(?:to|shows?|points?|says?|gives?|found|blames?)|"
    r"(?:first )?bad commit|\bculprit\b|"
    r"reverting [`(]?(?:[0-9a-f]{7,40}|#\d+|that|this|the)\b[^.]{0,60}(?:fix|solve|help|"
    r"work|resolve)\w*|"
    r"(?:(?:bug|regression|issue|problem|error|chang\w+)\b[^.]{0,40} introduced|broken|caused|introduced) (?:in|by|"
    r"with|since) (?:#\d+|PR|commit|pull request|[0-9a-f]{7,40}\b)|regressed)",
    re.I,
)
"""Words that tell a regression without a version."""
_UPDATED = re.compile(
    r"\b(?:(?:after|since|following) (?!an? |any |each |every |no )(?:(?:the|my|our|this) )?(?:\w+ )?(?:update|"
    r"upgrade)\b|"
    r"(?:(?:after|since)(?: i| we)?|having) (?:updat|upgrad)(?:e|ed|ing)\b|"
    r"\bwhen (?:i|we) (?:updated|upgraded?)\b)",
    re.I,
)
_ORDINARY_UPDATE = re.compile(
    r"(?i)\b(?:after|since|when (?:i|we)|having) (?:i |we )?updat(?:e|ed|ing) (?:the|an?|its|his|my|your|our|their|"
    r"this|some) "
    r"(?!(?:\w+ ){0,3}(?:app\w*|version|release|packages?|librar(?:y|ies)|dependenc(?:y|ies)|plugins?|extensions?|"
    r"modules?|drivers?|firmware|kernel|os|system|sdk|gems?|crates?|server|client|software|framework|browser|phone|theme|"
    r"tool\w*|add-?ons?|image|to)\b)"
)
"""What programs and people update, too."""
_DATA = re.compile(
    r"(?i)\b(?:rows?|records?|columns?|fields?|values?|state|entit(?:y|ies)|objects?|querysets?|datasets?|props?|"
    r"tables?)\b"
)
"""What programs update, too."""
_WORKED_VERSION, _BROKEN_VERSION = (
    r"(?:(?:the )?(?:version|release|v\.?|版本|バージョン|버전|версии|versi[oó]n|vers[aã]o|versione) ?)?"
    + _VERSION.format(one)
    for one in ("worked", "broken")
)
_ANY_TO = r"(?:\S{1,30} ){0,3}?"
_OLDER = r"(?:earlier|older|below|lower|before)(?: versions?| releases?)?"
_LOOKS_RIGHT = (
    r"(?:is|are|was|were|looks?|looked|works?|behaves?) (?:(?:all|again|still|just|perfectly) )?"
    r"(?:fine|ok|okay|good|correct|right|saner?|better|as expected)\b"
)
_PROBLEM = r"\b(?:bug|issue|problem|regression|error|it|this|that|which|behaviou?r)"
_BEGINS = (
    r"(?:has )?(?:first |only )?(?:appear(?:s|ed)|start(?:s|ed)|beg[ia]ns?|show(?:s|ed) up|changes|changed)(?: \w+)?"
)
_TELLS_WORKED = tuple(
    re.compile(pattern.replace("WORKED", _WORKED_VERSION), re.I)
    for pattern in (
        r"\blast (?:known )?(?:good|working|stable)(?: version| release| commit)?(?: is| was)?:? WORKED",
        rf"^(?:with|in|on|under) WORKED(?: \(\S{{1,200}}\))?,? (?:\w+ ){{0,3}}{_LOOKS_RIGHT}",
        rf"WORKED,? (?:and|or) {_OLDER} (?:(?:are|is|were) (?:un|not )|work)",
        rf"\b(?:downgrad|revert|roll)(?:e|ed|ing|s)? {_ANY_TO}(?:back )?to WORKED",
        r"(?:降级|回退|退回|回滚)到? ?WORKED",
        r"WORKED ?(?:版本|版)? ?(?:是|都|就)?(?:正常|没问题|没有问题|可以)",
        r"WORKED ?(?:では|までは|は)(?:正常に|問題なく)?(?:動作|動い)",
        r"WORKED ?(?:에서는|까지는|에서) ?(?:정상|잘)",
        r"\b(?:в|на|до) WORKED (?:всё |все )?работа",
        r"\b(?:in|mit|unter|bis) (?:der )?WORKED (?:ging|lief|funktionier)",
        r"\b(?:en|avec|dans|jusqu['’]à) (?:la )?WORKED(?:,| ça| cela)? (?:fonctionn|march|tout)",
        r"\b(?:en|con|em|com|in|na) (?:la |a )?WORKED (?:s[ií] )?(?:funcion|funziona|andava)",
    )
)
_TELLS_BROKEN = tuple(
    re.compile(pattern.replace("BROKEN", _BROKEN_VERSION), re.I)
    for pattern in (
        rf"{_PROBLEM} {_BEGINS} (?:in|with|since|from|after) BROKEN",
        r"^BROKEN (?:breaks|broke|has broken)\b",
        r"(?:升级|更新|升)(?:到|至)了? ?BROKEN",
        r"(?:从|自) ?BROKEN ?(?:版本)?(?:开始|起|之后)",
        r"BROKEN ?(?:版本|版)? ?(?:就|会)?(?:报错|异常|不行|出错|有问题)",
        r"BROKEN ?(?:から|以降|にアップ)",
        r"BROKEN ?(?:부터|로 업)",
        r"\b(?:с|после|начиная с) (?:обновления (?:до )?)?BROKEN",
        r"\bseit (?:dem update auf |der )?BROKEN",
        r"\bdepuis (?:la )?BROKEN",
        r"\bdepuis la mise à jour (?:vers |en )?(?:la )?BROKEN",
        r"\b(?:desde|dalla|dopo la) (?:la |a )?BROKEN",
    )
)
"""What tells it in other words, and in other languages where it is short."""
_BETWEEN = re.compile(
    r"\b(?:regress\w+|behaviou?r changes?|broke\w*|introduced|appeared|happened) (?:\w+ )?"
    rf"between (?:[a-z][\w-]{{0,30}} )?{_WORKED_VERSION} and {_BROKEN_VERSION}",
    re.I,
)
_COMMIT = re.compile(r"(?<![\w/])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_PULL_REQUEST = re.compile(
    r"(?<![\w/])#\d{1,7}\b|(?:github\.com/[\w.-]{1,100}/[\w.-]{1,100}/|(?<![\w/]))pull/\d{1,7}\b"
)
_BLAMES = re.compile(
    r"(?i)first bad commit|\b(?:bisect|culprit|revert)"
    r"|\b(?:introduced|broken|broke|caused|regressed) (?:in|by|with|since)\b"
)
_CULPRIT = re.compile(r"(?i)(?<!not )(?<!not the )\bculprit\b")
_CLEARS = re.compile(r"(?i)\b(?:good|works?|worked|working)\b")
_HELPS_NOT = re.compile(r"(?i)(?:\bnot|n['’]t) (?:fix|help|solve|change)")
"""What a sentence about a commit says that does not blame it: the last good one, or one whose revert helps nothing."""
_CHEAP = re.compile(
    r"\d|(?i:used to|work|longer|any ?more|stopped|update|upgrade|updat|regress|bisect|bad commit|revert)"
)
"""Every sentence that tells a regression has one of these, which are cheap to look for."""
_STATISTICS = re.compile(r"(?i)\b(?:linear|logistic|ridge|lasso|polynomial|quantile|multiple) regression")
_HYPOTHETICAL = re.compile(
    r"(?i)\b(?:if it|should (?:be|have)|would (?:be|have)|to (?:avoid|prevent)|regression tests?|sure if|might "
    r"have)\b"
)
_MAX_SENTENCES = 200
_NOT_PROJECTS = PLATFORMS | {"section", "step", "line", "figure", "chapter", "page", "port", "jdk17", "x86"}


def find_regression(parsed: ParsedIssue) -> Regression | None:
    """What worked before, from the sentence that tells it; versions also from a list and from other such sentences."""
    sentences = _sentences(parsed)
    found = [one for sentence in sentences if (one := _in_sentence(parsed, sentence)) is not None]
    found += [one for one in [_in_list(parsed)] if one is not None]
    if not found:
        return None
    best = max(found, key=lambda one: bool(one.worked_in) + bool(one.broken_in))
    fine = next(
        (version for sentence in sentences if (version := _first(sentence, "worked", _WORKED_IN, _IS_FINE))), ""
    )
    worked = best.worked_in or next((one.worked_in for one in found if one.worked_in), fine)
    broken = best.broken_in or next((one.broken_in for one in found if one.broken_in not in ("", worked)), "")
    if worked and not broken:
        others = (_first(sentence, "broken", *_SAID_BROKEN, unless=worked) for sentence in sentences)
        broken = next(filter(None, others), "")
    return best.model_copy(update={"worked_in": worked if worked != broken else "", "broken_in": broken})


def _sentences(parsed: ParsedIssue) -> Sequence[str]:
    sentences = [parsed.title, *find_sentences(parsed.prose[:MAX_CHARS])]
    return [
        sentence
        for sentence in sentences[:_MAX_SENTENCES]
        if _CHEAP.search(sentence) and not _STATISTICS.search(sentence)
    ]


def _in_sentence(parsed: ParsedIssue, sentence: str) -> Regression | None:
    if _HYPOTHETICAL.search(sentence):
        return None
    is_updated = _UPDATED.search(sentence) is not None and not (
        _DATA.search(sentence) or _ORDINARY_UPDATE.search(sentence)
    )
    is_sure = is_updated or _SURE.search(sentence) is not None
    worked = _first(sentence, "worked", _WORKED_IN, _IS_FINE) or (_first(sentence, "worked", _FROM) if is_sure else "")
    broken = _first(sentence, "broken", *_SAID_BROKEN, *([_TO] if is_sure else []), unless=worked)
    if between := _BETWEEN.search(sentence):
        worked, broken = between["worked"], between["broken"]
    other_worked, other_broken = _first(sentence, "worked", *_TELLS_WORKED), _first(sentence, "broken", *_TELLS_BROKEN)
    worked = worked or (other_worked if other_worked != broken else "")
    broken = broken or (other_broken if other_broken != worked else "")
    is_sure = is_sure or between is not None or bool(other_worked or other_broken)
    if _COMMIT.fullmatch(broken) and _HELPS_NOT.search(sentence):
        return None
    is_feature = _FEATURE.search(sentence) or _REASON.search(sentence)
    since = _SINCE_VERSION.search(sentence) and _TROUBLE.search(sentence) and not is_feature
    if not is_sure and not (worked and (broken or _PAST.search(sentence))) and not (broken and since):
        return None
    if is_sure and not broken:
        commit = _COMMIT.search(sentence) or _PULL_REQUEST.search(sentence)
        is_blamed = _BLAMES.search(sentence) and (_CULPRIT.search(sentence) or not _CLEARS.search(sentence))
        broken = re.sub(r"/?pull/", "#", commit[0]).removeprefix("github.com/") if commit and is_blamed else ""
    place = quote(parsed, sentence)
    return Regression(worked_in=worked, broken_in=broken, quote=place) if place else None


_PAST = re.compile(
    r"(?i)\b(?:worked|was|were|behaved|ran|passed|built|compiled|never the case|not the case|slower than|"
    r"downgrad\w+|pin(?:ned|ning)\b.{0,100}\b(?:works?|fine|helps|fixes)|but|later|newer|lower|older|earlier|disappears|"
    r"works? (?:\w+ )?(?:in|with|on)|no longer)\b"
)


def _in_list(parsed: ParsedIssue) -> Regression | None:
    """Return what lines such as `* v23.0 -- stable` and `* v24.0 -- unstable` tell."""
    worked = broken = ""
    line_of_broken = ""
    for line in parsed.prose[:MAX_CHARS].split("\n"):
        match = _LIST_LINE.match(line[:200])
        if match is None:
            continue
        if _FINE.search(match["verdict"]):
            worked = match["version"]
        elif _BAD.search(match["verdict"]) and worked and not broken:
            broken, line_of_broken = match["version"], line.strip()
    place = quote(parsed, line_of_broken) if broken else None
    return Regression(worked_in=worked, broken_in=broken, quote=place) if place else None


_LIST_LINE = re.compile(
    rf"\s*[-*+]?\s*(?:[A-Za-z][\w.-]{{0,30}}[ :]{{1,2}})?{_VERSION.format('version')}[^-=:→]{{0,80}}(?:--?|"
    rf"[=:→])>?\s*(?P<verdict>\S.{{0,60}})",
    re.I,
)
_FINE = re.compile(
    r"(?i)^\W*(?:stable|works?|worked|working|ok|okay|good|fine|pass(?:es|ed)?|no (?:error|problem|issue)|"
    r"correct|✅|👍)"
)
_BAD = re.compile(
    r"(?i)^\W*(?:unstable|broken|fails?|failed|bad|does(?:n't| not)|not (?:ok|working)|error|crash\w*|wrong|❌)"
)


def _first(sentence: str, group: str, *patterns: re.Pattern[str], unless: str = "") -> str:
    """Return the first version of the project: one that follows the name of a platform is left out."""
    for pattern in patterns:
        for match in pattern.finditer(sentence):
            version, named = match[group].rstrip("."), match.groupdict()
            if (named.get(f"{group}_name") or "").lower() not in _NOT_PROJECTS and version != unless:
                return version
    return ""


HEAD = "HEAD"
ResolveCommit = Callable[[str], str | None]
"""Return the full id of a commit that is written in hexadecimal, or of a pull request such as `#12`."""
_COMMIT_ALONE = re.compile(r"(?:^|-\d{1,6}-g)((?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40})$")
"""Alone, or as `git describe` writes it: `1.1.0-2-gabcdef5`."""


def choose_versions(
    facts: ReportFacts, tags: Sequence[Tag], head: str, resolve: ResolveCommit
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
            return _surround(Tag(name=broken_text, commit=commit), resolve)
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
        return _surround(broken, resolve)
    if worked is None or broken is None or worked.commit == broken.commit or _is_later(worked, broken):
        return None
    return worked, broken


def _surround(blamed: Tag, resolve: ResolveCommit) -> tuple[Tag, Tag] | None:
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
