"""Finds what a maintainer would really have to ask, with reasons, and tells whether a comment answers it.

Of 155 reports that were read by hand, ten needed a question. So what a report shows counts for more than what it leaves
out: who can run the example, or reads the error, needs neither the version nor what was expected. The first of three
rules that has something to ask asks: an error that only a picture shows, or of which a report only speaks; a required
field of the project's form that nothing in the report answers; and a report of a line or two in which nothing can be
seen. Where the code is known, so does a manifest that demands a version of the tool that builds the project. Questions
are in the language of the report; reasons are for maintainers.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from triage.domain.findings import MissingInformation, MissingKind
from triage.domain.issue import Issue, ParsedIssue
from triage.read.issue_facts import find_version
from triage.read.issue_forms import (
    FormField,
    drop_template_text,
    find_answer,
    find_bug_form,
    find_used_forms,
    join_own_headings,
    parse_forms,
)
from triage.read.kind.kind_features import describe_title
from triage.read.read_issue import read_issue
from triage.read.reporter_language import get_phrases
from triage.read.text_signs import (
    FAILURE,
    NUMBERED,
    SAYS_FAILURE,
    count_words,
    find_crash_words,
    find_sentences,
    has_code,
    has_error,
)
from triage.read.versions.versions import MOVING_VERSION, names_platform
from triage.read.visible_text.html_page import PICTURE

MAX_QUESTIONS = 3
_REASONS: dict[MissingKind, str] = {
    "reproduction": "Without steps or code nobody else can see the problem.",
    "error_output": "The message and the trace name the place in the code.",
    "version": "It tells which code ran, and whether the problem is already fixed.",
    "actual": "The report does not say what goes wrong.",
    "expected": "It tells a bug from behaviour that is meant.",
    "environment": "The project's form asks for it, as the answer may depend on it.",
    "configuration": "The same code behaves differently under another configuration.",
    "other": "The project's form requires it.",
}
_FEW_WORDS = 18
"""Longer prose says what happens: of six such live issues that were asked for steps, one was the better for it."""
_MANY_WORDS = 60
"""Longer prose says enough of an error without its text."""
_MANY_NAMES = 2
_TITLE_WORDS = 6
_STEPS_WORDS = 25
_MAX_QUOTE_CHARS = 80
_MAX_LINKS = 50
_MAX_CHARS = 20_000
_SANDBOX = re.compile(
    r"codesandbox|stackblitz|codepen|jsfiddle|jsbin|plnkr|replit|godbolt|gist\.|colab\.|play\.|playground|cirrus-ci|"
    r"travis-ci|circleci|appveyor|dev\.azure|buildkite|pastebin|paste\.|bpa\.st|asciinema",
    re.I,
)
"""Sites with code that runs, or with the log of a build."""
_CLICKED = re.compile(
    r"(?i)\b(?:when|after|if|once|by|on)\b[^.\n]{0,40}"
    r"\b(?:click(?:s|ed|ing)?|press(?:es|ed|ing)?|tap(?:s|ped|ping)?|drag(?:s|ged|ging)?|hover(?:s|ed|ing)?)"
    r"(?![\w/]|\W{0,2}v?\d)"
)
"""A step, which needs no other."""
_GENERAL = re.compile(
    r"(?i)\b(?:(?:is|are|does|do|it)(?:n['’]?t| not) work\w*|not working|doesnt work|won['’]?t work|crash\w*|broken|"
    r"errors?|exceptions?|problems?|issues?|bugs?|help|fail\w*|hangs?|freez\w+|slow\w*|any ?more)\b"
)
"""Words that could stand above any report."""
_ERROR = re.compile(
    r"(?i)\b(?:errors?|exceptions?|fail\w*|crash\w*|message|warning|erro|erros|erreurs?|fehler\w*|errore|fout|błąd|hata|"
    r"ошибк\w+|помилк\w+)\b|报错|出错|错误|失败|异常|報錯|錯誤|失敗|異常|エラー|오류|에러"
)
"""In the languages that there are phrases in: a picture is shown of the same in all of them."""
_PICTURED = re.compile(
    r"(?i)\b(?:screen ?shot|\w{0,2}snap ?shot|picture|image|here is|some|following)\W{1,3}(?:\w{1,20}\W{1,3}){0,3}"
    r"(?:errors?|message|log|output|crash)\b|\b(?:errors?|message) (?:above|below)\b"
)
_ASKS = re.compile(
    r"(?im)^[^\w\n]*(?:how|where|do|does|did|should|(?:can|could) (?:i|we|one|it)|is it)\b[^\n]{5,300}[?？]"
    r"|\bhow (?:can|do|could|should|would|to) (?:i|we|you|one)\b"
)
"""The reporter wants an answer, and nobody to look for a fault."""
_WISHES = re.compile(
    r"(?im)(?:^|[.!?,] |\b(?:it|that|this|which|also) )(?:would|will) be (?:\w+ ){0,2}"
    r"(?:nice|great|useful|helpful|good|cool|handy|better)\b(?![^.]{0,40}\b(?:help|fix|look|solv|report (?:it|th)))"
    r"|^[^\w\n]*(?:(?:i|we) )?needs? (?!(?:help|to)\b)|\bfeature requests?\b"
    r"|\b(?:please|could you) (?:add|support)\b|\A[^\w\n]*(?:fix|handle|prevent|avoid|raise|throw)\b"
)
"""What is not there yet has no steps, no error and no version."""
_SEEN = re.compile(
    r"(?i)\b(?:get(?:s|ting)?|got|gives?|throws?|see|saw|shows?|receiv\w+|returns?)\b[^.\n]{0,40}"
    r"\b(?:errors?|exceptions?|message)\b"
)
"""Above a picture, with nothing between but code."""
_SHOWN = re.compile(
    r"(?i)\b(?:errors?|exceptions?|messages?|crash\w*)\b(?: ?[\"'“”«`]|[^.\n]{0,20}:|[ \t]*\n(?=\S))"
    r"|\b(?:this|following|below)\b(?:[^.\n]{0,20}:|[ \t]*\n|(?<!this)\.[ \t]*\n)\s*\S"
)
"""What stands behind these words may be the error, in a form that nobody reads here."""
_WITHOUT_TEXT = re.compile(
    r"(?i)\b(?:no|without)(?: any?)? (?:\w+ )?(?:errors?|messages?|traces?|logs?)\b|\b(?:swallow|suppress|catch)"
)
_FENCED = re.compile(r"^(`{3,}).*?^\1[^\n]*$", re.M | re.S)
_TAG = re.compile(r"^\s*(?:\[[^\]]{1,40}\]:?|[\w./ -]{1,30}:)\s*")
_TEMPLATE_LINE = re.compile(r"#|\s*[-*+] \[[ xX]\]|[\W_]*(?:no response|n/?a|none)[\W_]*$", re.I)
_POINTER = re.compile(r"`[^`\n]{2,200}`|(?<![\w/])#\d+\b")
_LINK = re.compile(r"https?://\S{1,500}")


def find_missing_information(parsed: ParsedIssue, forms: Sequence[str], project: str = "") -> list[MissingInformation]:
    """Questions to the reporter of what may be a bug, those of a form in its order. Empty for a complete report.

    `forms` are the texts of the repository's issue templates: what the used one requires is asked for, with its label.
    `project` is `owner/name`.
    """
    parsed = drop_template_text(parsed, forms)
    version, _ = find_version(parsed, project)
    is_silent = says_nothing(parsed)
    known_forms = parse_forms(forms)
    used = find_used_forms(known_forms, parsed) or ([find_bug_form(known_forms)] if is_silent else [])
    fields = used[0].fields if used else []
    parsed = parsed.model_copy(update={"sections": join_own_headings(parsed.sections, fields)})
    asked = [*_ask_error(parsed)] or [*_ask_fields(fields, parsed, is_silent=is_silent)]
    if is_silent and not asked:
        answered = {one.kind for one in fields if find_answer(one, parsed.sections)}
        asked = [question for question in _ask_steps(parsed, project) if question.kind not in answered]
    needs_no_version = not any(re.search(r"(?i)(?<!con|sub)version", form) for form in forms)
    if version or MOVING_VERSION.search(_write_out(parsed)) or needs_no_version:
        asked = [question for question in asked if question.kind != "version"]
    return asked[:MAX_QUESTIONS]


def _ask_fields(fields: Sequence[FormField], parsed: ParsedIssue, *, is_silent: bool) -> Iterator[MissingInformation]:
    """Ask for fields that the form requires, that are empty, and that nothing else in the report answers.

    GitHub takes no form without them: one whose heading is gone is asked for only if nothing else is there.
    """
    is_shown = has_error(parsed) or has_code(parsed) or PICTURE in parsed.body
    shown: dict[MissingKind, bool] = {
        "reproduction": not is_silent and can_be_seen(parsed),
        "error_output": has_error(parsed),
        "environment": names_platform(parsed.text),
        "version": any(field.kind == "version" and find_answer(field, parsed.sections) for field in fields),
    }
    for field in fields:
        answer = find_answer(field, parsed.sections)
        is_empty = not answer and (answer is not None or is_silent)
        if field.required and is_empty and not shown.get(field.kind, is_shown):
            question = get_phrases(parsed.language).ask_field.format(label=field.label)
            yield MissingInformation(kind=field.kind, question=question, reason=_REASONS[field.kind])


def _ask_error(parsed: ParsedIssue) -> Iterator[MissingInformation]:
    """Ask for the text of an error that only a picture shows, or of which the report only speaks."""
    phrases = get_phrases(parsed.language)
    if _leaves_error_to_picture(parsed):
        question, reason = phrases.ask_text_of_picture, "As text it can be searched for in the code."
        yield MissingInformation(kind="error_output", question=question, reason=reason)
    elif crash := _find_hidden_error(parsed):
        reason = f"The report says “{_shorten(crash)}”, but shows neither the message nor where it came from."
        yield MissingInformation(kind="error_output", question=phrases.ask_error, reason=reason)


def _find_hidden_error(parsed: ParsedIssue) -> str:
    """Return the words of a short report for an error of which it shows nothing; empty without any."""
    own, crash = _extract_own_words(parsed), find_crash_words(_write_out(parsed))
    # A crash prints where to report it.
    is_shown = has_error(parsed) or PICTURE in parsed.body or any(not link.endswith("/issues") for link in parsed.links)
    # Who runs the code sees its error; of a crash there is nothing to see.
    is_shown |= bool(parsed.code) and any(map(SAYS_FAILURE.search, [crash, *(block.text for block in parsed.code)]))
    is_shown |= any(sign.search(own) for sign in (_SHOWN, _WITHOUT_TEXT))
    return "" if is_shown or _wishes(parsed) or count_words(own) > _MANY_WORDS else crash


def _ask_steps(parsed: ParsedIssue, project: str) -> Iterator[MissingInformation]:
    """Ask how somebody else can see the problem, and for the version, if the report itself asks nothing."""
    if _ASKS.search(_write_out(parsed)):
        return
    phrases = get_phrases(parsed.language)
    title = _shorten(parsed.title.strip(" .:!?"))
    subject = f"“{title}”" if title else "a problem"
    yield MissingInformation(
        kind="reproduction",
        question=phrases.ask_steps,
        reason=f"The report describes {subject}, but not how somebody else can see it.",
    )
    owner, _, name = project.rpartition("/")
    question = phrases.ask_version_of.format(project=name) if owner else phrases.ask_version
    yield MissingInformation(kind="version", question=question, reason=_REASONS["version"])


def speaks_of_failure(parsed: ParsedIssue, forms: Sequence[str] = ()) -> bool:
    """Return whether anything in a report fails, in words or in a picture: an advertisement has nothing to ask for.

    The words are English; of a report in another language nobody knows. What `forms` say does not count.
    """
    parsed = drop_template_text(parsed, forms)
    says = parsed.language != "en" or find_crash_words(_write_out(parsed), FAILURE) != ""
    return says or has_error(parsed) or PICTURE in parsed.body


def asks_for_help(parsed: ParsedIssue, forms: Sequence[str] = ()) -> bool:
    """Return whether a report of a few words has one of trouble: who sends a letter or a form has nothing to add."""
    parsed = drop_template_text(parsed, forms)
    return speaks_of_failure(parsed) or _GENERAL.search(_write_out(parsed)) is not None


def says_nothing(parsed: ParsedIssue) -> bool:
    """Return whether a report is short, names nothing, has a title that could stand above any, and shows nothing."""
    title, prose = _TAG.sub("", parsed.title), _extract_own_words(parsed)
    is_telling = count_words(title) >= _TITLE_WORDS and not _GENERAL.search(title)
    is_shown = PICTURE in parsed.body or can_be_seen(parsed)
    if is_telling or is_shown or _wishes(parsed):
        return False
    named = {*parsed.identifiers, *parsed.paths, *_POINTER.findall(prose), *parsed.links[:_MAX_LINKS]}
    return count_words(_LINK.sub("", prose)) <= _FEW_WORDS and len(named) < _MANY_NAMES


def _wishes(parsed: ParsedIssue) -> bool:
    return _WISHES.search(_write_out(parsed)) is not None or "changes only" in describe_title(parsed.title)


def can_be_seen(parsed: ParsedIssue) -> bool:
    """Return whether a maintainer can run it, click through it, or read where it fails."""
    if has_code(parsed) or has_error(parsed) or any(map(_SANDBOX.search, parsed.links[:_MAX_LINKS])):
        return True
    prose = _extract_own_words(parsed)
    return any(sign.search(prose) for sign in (_CLICKED, _SHOWN)) or len(NUMBERED.findall(prose)) >= 2


def _leaves_error_to_picture(parsed: ParsedIssue) -> bool:
    """Return whether the report speaks of an error that only a picture shows. It may also ask what one is to show."""
    if PICTURE not in parsed.body or has_error(parsed):
        return False
    text = _write_out(parsed)
    subject = _GENERAL.sub("", parsed.title)
    if not _extract_own_words(parsed).strip() and subject != parsed.title and count_words(subject) < _MANY_NAMES:
        return True  # the picture is all that it says
    *above, _ = _FENCED.sub("", parsed.body).split(PICTURE)
    if any(_SEEN.search("\n".join(text.strip().split("\n")[-1:])) for text in above):
        return True
    if has_code(parsed):  # whose output may be a picture
        return False
    is_first = bool(above) and not above[0].strip()  # then it is what the words are about
    if is_first and any(find_crash_words(sentence, _ERROR) for sentence in find_sentences(text)):
        return True
    speaks = _PICTURED if _ASKS.search(text) or count_words(text) > _STEPS_WORDS else _ERROR
    return speaks.search(text) is not None


def _extract_own_words(parsed: ParsedIssue) -> str:
    """Return prose without headings and checklists, which come from templates, and without answers that are none."""
    lines = parsed.prose[:_MAX_CHARS].split("\n")
    return "\n".join(line for line in lines if not _TEMPLATE_LINE.match(line))


def _write_out(parsed: ParsedIssue) -> str:
    return f"{parsed.title}\n{_extract_own_words(parsed)}"


def _shorten(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= _MAX_QUOTE_CHARS else words[: _MAX_QUOTE_CHARS - 1].rsplit(" ", 1)[0] + " …"


RUST_MANIFEST = "Cargo.toml"
_DEMANDED = re.compile(r"^\s*rust-version\s*=\s*\"([\w.]{1,20})\"", re.M)
_RUST_BUILD = re.compile(r"\bcargo (?:\+\S+ )?(?:install|build)\b")
_HAS_BUILT = re.compile(r"(?i)\b(?:installed|built) (?:\w+ ){0,2}(?:by|from|through|using|via|with)\W{1,3}cargo\b")
_NOT_COMPILED = re.compile(r"(?i)\b(?:could not|failed to) compile\b|\berror\[E\d{4}\]")
_RUST_VERSION = re.compile(r"(?i)\b(?:rustc?|cargo)\W{0,3}(?:version\W{1,3})?v?\d+\.\d")


def ask_rust_version(parsed: ParsedIssue, manifest: str) -> list[MissingInformation]:
    """Ask for the version of Rust if `manifest` demands one, a build failed, and the report names none.

    Of nine reports that were read, of uv, fd, lsd and others, it was too old in eight. Go says by itself which one it
    has and which one it needs. Takes time linear in the texts.
    """
    demand = _DEMANDED.search(manifest)
    # How somebody installed what fails later stands in another sentence, or is said to be done.
    parts = [parsed.title, *(block.text for block in parsed.code), *find_sentences(parsed.prose[:_MAX_CHARS])]
    failing = [part for part in parts if SAYS_FAILURE.search(part) and not _HAS_BUILT.search(part)]
    is_build = any(map(_RUST_BUILD.search, parts if _NOT_COMPILED.search(parsed.text) else failing))
    if not demand or not is_build or _RUST_VERSION.search(parsed.text):
        return []
    asked = get_phrases(parsed.language).ask_version_of.format(project="Rust")
    question = f"{asked} (`cargo --version`; `{RUST_MANIFEST}`: {demand[1]})"
    reason = f"`{RUST_MANIFEST}` demands {demand[1]}."
    return [MissingInformation(kind="environment", question=question, reason=reason)]


_TELLING_WORDS = 12
_FILLER = re.compile(
    r"(?i)\b(?:a|an|any|bump|can|do|does|for|good|have|hello|here|hey|hi|i|is|it|me|morning|news|on|ping|please|same|"
    r"see|still|thanks?|thank you|the|there|this|too|up|updates?|waiting|we|workaround|yet|you|don['’]t know|no idea|"
    r"sorry)\b"
    r"|[^\w\s]"
)
"""What people write who only want to be heard."""
_QUOTED = re.compile(r"^[ \t]{0,3}>(?!>>).*$|(?<!\w)\+1\b", re.M)
_VERSION = re.compile(
    r"(?i)\d\.\d|\bv\d|\b(?:version|release|build|commit)\W{1,3}\w*\d|\b(?=\w*\d)[0-9a-f]{7,40}\b|^\W*\d+\W*$"
)
_SAYS = re.compile(r"(?i)\b(?:says?|said|prints?|shows?|messages?|errors?|exceptions?|outputs?|logs?)\b")


def answers_question(text: str, asked: Collection[MissingKind]) -> bool:
    """Return whether the comment, as GitHub's Markdown, answers one of the questions. A question answers none."""
    parsed = read_issue(Issue(title="", body=_QUOTED.sub("", text)))
    sentences = find_sentences(parsed.prose[:_MAX_CHARS])
    stated = "\n".join(one for one in sentences if not one.rstrip("\"')* ").endswith(("?", "？")))
    return any(_answers(parsed, stated, kind) for kind in asked)


def _answers(parsed: ParsedIssue, stated: str, kind: MissingKind) -> bool:
    """Return whether a comment answers a question of this kind; `stated` are its sentences that ask nothing."""
    words = count_words(_FILLER.sub(" ", stated))
    match kind:
        case "version":
            return any(map(_VERSION.search, [stated, *parsed.versions])) or MOVING_VERSION.search(stated) is not None
        case "error_output":
            return has_error(parsed) or has_code(parsed) or (words > 1 and _SAYS.search(stated) is not None)
        case "environment":
            return names_platform(parsed.text)
        case "reproduction":
            return can_be_seen(parsed) or words >= _TELLING_WORDS
    return words > 0 or has_code(parsed)
