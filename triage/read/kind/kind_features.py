"""Features of an issue for the learned model of its kind: words, characters of the title, headings, and cues.

Cues are words and forms that tell bugs, feature requests and questions apart.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from triage.domain.issue import ParsedIssue

_PHRASES = {
    "how": r"how (?:do|can|to|should|would|could|does)\b",
    "may I": r"(?:can|could|may|should) (?:i|we|you|someone|anyone|somebody|anybody)\b",
    "is there": r"is (?:there|it possible|this)\b",
    "possible": r"possible\b",
    "any help": r"any (?:help|ideas?|suggestions?|advice|thoughts|hints?|clue|solution|workaround|way|plans?)\b",
    "thanks": r"(?:thanks|thank you|thx|appreciate\w*)\b",
    "help": r"help\b",
    "not sure": r"(?:wonder\w*|curious|confus\w+|understand|not sure|unsure|don't know|no idea)\b",
    "would be nice": (
        r"would be (?:\w+ ){0,2}(?:nice|great|useful|helpful|good|cool|handy|awesome|better|ideal|convenient)\b"
    ),
    "would like": r"(?:(?:i|we)(?: would|'d) (?:like|love)|i wish|propos\w+|suggest\w*|feature request|request\w*)\b",
    "adds": r"(?:add|adding|support for|allow|provide|introduce|implement|expose|option to|ability to|enable)\b",
    "should": r"should\b",
    "please add": r"(?:could|can|please) (?:you |we |this )?(?:be )?(?:add|support|implement|provide)\w*",
    "currently": r"currently\b",
    "instead": r"instead\b",
    "use case": r"(?:use ?case|motivation|benefit)\w*",
    "crash": r"(?:crash\w*|segfault\w*|segmentation|abort\w*|core dump|panic\w*)\b",
    "error": r"(?:error|exception|traceback|fail\w*)\b",
    "wrong": r"(?:wrong|incorrect\w*|unexpected\w*|broken|inconsistent|invalid|missing|mismatch|regression|bug)\b",
    "does not work": (
        r"(?:doesn't|does not|didn't|don't|not|isn't|won't|can't|cannot|unable) (?:\w+ )?"
        r"(?:work|load|show|display|compile|build|run|start|open|update|render|respond)\w*"
    ),
    "expected": r"expected\b",
    "steps": r"(?:repro\w*|steps)\b",
    "I tried": (
        r"(?:i|we)(?:'m| am|'ve| have)? "
        r"(?:try\w*|tried|attempt\w*|want\w*|need\w*|using|use|built|build|building|install\w*|follow\w*)\b"
    ),
    "installation": (
        r"(?:install\w*|pip|cmake|compile\w*|build\w*|link\w*|undefined reference|dll|visual studio|docker|conda|"
        r"cuda|configure)\b"
    ),
    "my own": (
        r"my (?:code|project|app\w*|program|model|component|script|wallet|node|computer|machine|system|pc|laptop|"
        r"data\w*)\b"
    ),
    "documentation": r"(?:doc\w*|tutorial|example)\b",
    "forum": r"(?:stack ?overflow|forum)\b",
    "before": (
        r"(?:used to|worked (?:in|with|fine|before)|previous(?:ly)?|since|after (?:updat|upgrad)\w+|no longer|"
        r"anymore|regress\w+)\b"
    ),
    "always": r"(?:always|sometimes|randomly|intermittent\w*)\b",
    "change": r"(?:pull request|pr|patch|this commit)\b",
    "closes": r"(?:resolves|closes|fixes|related to) (?:#\d|http)",
    "greeting": r"(?:hi|hello|hey|dear|good (?:morning|day|evening)|greetings)\b",
}
PHRASES = {name: re.compile(rf"\b(?:{words})", re.I) for name, words in _PHRASES.items()}

_ASKS = re.compile(
    r"^\W*(?:how|what|why|where|when|which|who|is|are|does|do|did|can|could|should|would|will|has|have|any|am)\b", re.I
)
_CHANGES = re.compile(
    r"^\W*(?:add|allow|support|implement|make|use|provide|enable|introduce|remove|improve|change|move|show|create|"
    r"update|expose|include|extend|replace|rename|refactor|consider|option|ability|better|more|new|integrate|document|"
    r"drop|deprecate|convert|automatically|configur\w+|customi\w+)\b",
    re.I,
)
_FIXES = re.compile(r"\bfix(?:e[sd])?\b|^\W*(?:revert|correct|prevent|avoid|handle)\b", re.I)
_OBSERVES = re.compile(
    r"\b(?:not|no longer|never|doesn't|don't|isn't|can't|cannot|won't|fails?|failed|failing|failure|crash\w*|wrong\w*|"
    r"incorrect\w*|broken?|breaks?|error|exception|missing|unexpected\w*|invalid|leak\w*|hangs?|stuck|freez\w*|slow|"
    r"flicker\w*|undefined|null|nan|overflow|segfault\w*|segmentation|abort\w*|regress\w*|bug|throws?|raises?|lost|"
    r"loses|disappear\w*|inconsistent\w*|duplicate\w*|ignored|ignores|corrupt\w*|warning)\b",
    re.I,
)
_BUILDS = re.compile(r"install|build|compil|cmake|\bpip\b|\blink|docker|cuda", re.I)
_EXCEPTION = re.compile(r"\b[A-Z][A-Za-z]{0,60}(?:Error|Exception|Warning)\b")
_QUESTION = re.compile(r"[^.!?\n]{4,200}\?")
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|me)\b", re.I)
_BOX = re.compile(r"\[[ xX]\]")

SECTIONS = {
    name: re.compile(words, re.I)
    for name, words in {
        "steps": r"repro|steps",
        "expected": r"expect",
        "actual": r"actual|current (?:behav|result)|observed|what happen",
        "environment": r"environment|system|\bos\b|platform|browser|device",
        "version": r"version",
        "solution": r"solution|proposal|you'd like|proposed|feature",
        "alternatives": r"alternativ",
        "motivation": r"motivation|use ?case|problem|rationale",
        "context": r"context|additional",
        "log": r"log|error|trace|output",
        "description": r"summary|description|describe",
        "question": r"question",
        "bug": r"\bbug\b",
    }.items()
}


def describe_title(title: str) -> set[str]:
    """Return the names of the facts that hold of a title, each of which is a feature of its kind."""
    changes, observes, asks = (bool(form.search(title)) for form in (_CHANGES, _OBSERVES, _ASKS))
    words = title.split()
    return {
        name
        for name, holds in {
            "asks": asks,
            "asks with a mark": asks and "?" in title,
            "changes": changes,
            "changes only": changes and not observes,
            "fixes": bool(_FIXES.search(title)),
            "observes": observes,
            "none": not (changes or observes or asks),
            "exception": bool(_EXCEPTION.search(title)),
            "builds": bool(_BUILDS.search(title)),
            "capitals": bool(re.search(r"[A-Z]{4,}", title)),
            "exclaims": "!" in title,
            "question mark": "?" in title,
            "lower case": title[:1].islower(),
            "other script": not title.isascii(),
            "short": len(words) <= 3,
            f"words {min(16, len(words))}": True,
        }.items()
        if holds
    }


def describe_body(parsed: ParsedIssue, prose: str) -> set[str]:
    """Return facts and rough counts. `prose` is the text below the headings."""
    questions = _QUESTION.findall(prose)
    lines_of_code = sum(block.text.count("\n") + 1 for block in parsed.code)
    counts = {
        "questions": min(4, len(questions)),
        "question marks": _magnitude(prose.count("?")),
        "observations": min(5, len(_OBSERVES.findall(prose)).bit_length()),
        "words": min(8, len(prose.split()).bit_length()),
        "first person": _magnitude(len(_FIRST_PERSON.findall(prose))),
        "boxes": _magnitude(len(_BOX.findall(prose))),
        "lines of code": _magnitude(lines_of_code),
        "blocks of code": min(4, len(parsed.code)),
        "traces": min(2, len(parsed.traces)),
        "errors": min(3, len(parsed.error_messages)),
        "versions": min(4, len(parsed.versions)),
        "links": min(4, len(parsed.links)),
        "sections": _magnitude(len(parsed.sections)),
    }
    facts = {f"{name} {count}" for name, count in counts.items()}
    facts.update(f"language {block.language.lower()[:12]}" for block in parsed.code)
    if any(_ASKS.search(question) for question in questions):
        facts.add("asks")
    if _EXCEPTION.search(prose):
        facts.add("exception")
    if re.search(r"(?m)^[ \t]{0,8}\d[.)] ", prose):
        facts.add("numbered")
    return facts


def describe_sections(parsed: ParsedIssue) -> set[str]:
    """Return which known sections the report has, and whether they are answered."""
    return {
        f"{name} {'answered' if section.text.strip() else 'empty'}"
        for section in parsed.sections
        for name, words in SECTIONS.items()
        if words.search(section.heading)
    }


def _magnitude(count: int) -> int:
    return min(6, count.bit_length())


_MAX_TITLE_CHARS = 300
_MAX_CHARS = 6_000
"""Reporters say early what they want; the rest is logs."""
_MAX_HEADINGS = 30
_WORD = re.compile(r"https?://\S{1,500}|`[^`\n]{1,200}`|[@#]?\w[\w.:]*(?:\(\))?(?:['’]\w+)?|[?!]")
_CAMEL = re.compile(r"[a-z0-9][A-Z]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CHARS = 4
CUE_VALUE = 0.3
"""Of a cue. The features of a text share a value of 1 or so, however long it is: see `extract_kind_features`."""


def extract_kind_features(parsed: ParsedIssue) -> dict[str, float]:
    """Return named features and their values. Takes time linear in the text, and at most that of 6,000 characters."""
    title = parsed.title[:_MAX_TITLE_CHARS]
    headings = [section.heading for section in parsed.sections[:_MAX_HEADINGS]]
    prose = _drop_headings(parsed.prose[:_MAX_CHARS], headings)
    title_words, words = list(find_words(title)), list(find_words(prose))
    heading_words = [list(find_words(heading[:200]))[:5] for heading in headings]
    return {
        **_share("title", _find_ngrams(["<", *title_words, ">"], 3), 1.0),
        **_share("chars", _find_chars(" ".join(title_words)), 1.0),
        **_share("word", [*title_words, *words], 1.4),
        **_share("heading", (part for found in heading_words for part in [" ".join(found), *found]), 0.6),
        **dict.fromkeys(_find_cues(parsed, title, prose), CUE_VALUE),
    }


def _drop_headings(prose: str, headings: Sequence[str]) -> str:
    known = {heading.strip().lower() for heading in headings}
    return "\n".join(line for line in prose.split("\n") if line.strip(" #*:").lower() not in known)


def find_words(text: str) -> Iterator[str]:
    """Words in lower case. What is different in each project (names, numbers, addresses) is one word for each sort."""
    for part in _WORD.findall(text):
        if part in ("?", "!"):
            yield part
        elif part.startswith(("http://", "https://")):
            yield "<url>"
        elif part[0] in "@#":
            yield "<reference>"
        else:
            yield _normalize_word(part.rstrip(".:"))


def _normalize_word(word: str) -> str:
    if word[0] == "`" or "_" in word or ":" in word or "(" in word or _CAMEL.search(word):
        return "<name>"
    if any(char.isdigit() for char in word):
        return "<version>" if "." in word else "<number>"
    return "<name>" if "." in word else word.lower().replace("’", "'")


def _share(group: str, parts: Iterable[str], total: float) -> dict[str, float]:
    """Each different part once. Their squares sum up to that of `total`, so that a long text counts as a short one."""
    names = {f"{group} {part}" for part in parts}
    return dict.fromkeys(names, total / math.sqrt(len(names))) if names else {}


def _find_ngrams(words: Sequence[str], longest: int) -> Iterator[str]:
    for length in range(1, longest + 1):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])


def _find_chars(text: str) -> Iterator[str]:
    padded = f" {text} "
    return (padded[start : start + _CHARS] for start in range(len(padded) - _CHARS + 1))


def _find_cues(parsed: ParsedIssue, title: str, prose: str) -> Iterator[str]:
    """Yield the features that are phrases or facts, not words."""
    first = next((sentence for sentence in _SENTENCE_END.split(prose) if len(sentence.split()) > 2), "")
    for name, phrase in PHRASES.items():
        found = len(phrase.findall(title)) + len(phrase.findall(prose))
        if found:
            yield f"says: {name}"
        if found > 2:
            yield f"says: {name}, often"
        if phrase.search(title):
            yield f"title says: {name}"
        if phrase.search(first):
            yield f"first sentence says: {name}"
    yield from (f"title: {fact}" for fact in describe_title(title))
    yield from (f"body: {fact}" for fact in describe_body(parsed, prose))
    yield from (f"section: {fact}" for fact in describe_sections(parsed))
