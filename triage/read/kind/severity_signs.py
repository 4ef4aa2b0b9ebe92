"""Finds the sentences that say how bad a bug is: lost data, a crash of the whole program, a security hole.

Without such a sentence there is no severity. A word alone says little: a cache may delete its files, and an exception
that a caller can catch is no crash of the program.
"""

import re
from collections.abc import Iterator

from triage.domain.findings import Severity
from triage.domain.issue import ParsedIssue, Quote, SeveritySign, SignKind
from triage.read.kind.security_signs import reports_vulnerability
from triage.read.text_signs import MAX_CHARS, find_sentences, quote

_SEVERITIES: dict[SignKind, Severity] = {"security": "CRITICAL", "data_loss": "CRITICAL", "crash": "HIGH"}
_OWN = (
    r"(?:(?:my|our|your|their|his|her|the users?['’]?s?|users?['’]?s?|customers?['’]?s?|"
    r"all(?: (?:of )?(?:my|our|the|your))?|existing|the (?:whole|entire)) )"
)
_VALUABLES = (
    r"(?:\w+ ){0,2}(?:data|work|files?|documents?|rows|records|changes|entries|messages|history|photos|database|"
    r"repository|wallet|settings|account)"
)
_PROGRAM = (
    r"(?:(?:the|my|our|your|whole|entire) )*(?:app(?:lication)?|program|server|service|process|daemon|node|browser|"
    r"editor|client|game|engine|emulator|kernel|system|computer|phone|compiler|interpreter|shell|terminal|database|binary|exe)"
)
_WORDS: dict[SignKind, str] = {
    "data_loss": (
        rf"\b(?:data[- ]loss\b|los(?:e|es|ing|t) {_OWN}{_VALUABLES}\b|{_OWN}{_VALUABLES} (?:is|are|gets?|got|was|"
        rf"were|becomes?) (?:\w+ )?"
        rf"(?:lost|corrupt\w*|deleted|overwritten|wiped|gone|destroyed)\b|(?:deletes|wipes|erases|overwrites|"
        rf"destroys|corrupts|deleted|wiped|erased|overwrote|"
        rf"corrupted) {_OWN}{_VALUABLES}\b|(?:the )?(?:database|repository|wallet|disk|partition) (?:is|gets?|"
        rf"got|was|becomes?) (?:\w+ )?(?:corrupt\w*|wiped|"
        rf"destroyed|lost)|(?:data|database|file system) corruption\b|silent(?:ly)? (?:corrupts?|loses?|los\w+ data))"
    ),
    "crash": (
        rf"\b(?:{_PROGRAM} (?:\w+ )?(?:crash(?:es|ed)?|aborts?|panics)\b(?! (?:report|log|dump|handl))|"
        rf"crash(?:es|ed)? {_PROGRAM}\b|"
        r"crash(?:es|ed|ing)? (?:on|at|during|after|immediately on) (?:start|startup|launch|boot|exit)\b|"
        r"seg(?:mentation )?faults?(?:ed|ing)?\b|core dump(?:s|ed)?\b|SIG(?:SEGV|ABRT|ILL|BUS)\b|bus error\b|"
        r"panicked\b|double free|OOM[- ]?kill\w*|blue screen)"
    ),
}
_PATTERNS = {kind: re.compile(words, re.I) for kind, words in _WORDS.items()}
_DEATH = re.compile(
    r"(?:segmentation fault\b|core dumped|received signal SIG|\bSIG(?:SEGV|ABRT|BUS|ILL)\b|^panic: |panicked at |"
    r"AddressSanitizer: |"
    r"double free or corruption|^\s*Aborted\b|fatal error: runtime: out of memory|\bAborted \(|"
    r"Speicherzugriffsfehler|Abort trap)",
    re.I | re.M,
)
"""A line of output by which a process ends."""
_NEGATED = re.compile(
    r"(?i)(?:\b(?:no|not|never|without|nor|neither|avoid\w*|prevent\w*|fix(?:e[sd]|ing)?|if it|should|would|could|"
    r"might|may|to|instead of|than)\s(?:\w+\s){0,2}|"
    r"n['’]t\s(?:\w+\s){0,2}|[\"“])$"
)
"""What stands before a word that says nothing: also a quotation mark, since a message is no observation."""
_MAX_SENTENCES = 200
_MAX_CODE_BLOCKS = 20


def find_severity(parsed: ParsedIssue) -> SeveritySign | None:
    """Return the sign that says the most; None where nothing says how bad it is."""
    return next(iter(find_severity_signs(parsed)), None)


def find_severity_signs(parsed: ParsedIssue) -> list[SeveritySign]:
    """Return one sign per kind, the worst first, each with its sentence."""
    sentences = [parsed.title, *find_sentences(parsed.prose[:MAX_CHARS])][:_MAX_SENTENCES]
    stated = [sentence for sentence in sentences if not sentence.endswith("?")]
    found = {kind: place for kind in _PATTERNS if (place := _find_sentence(parsed, kind, stated))}
    if reports_vulnerability(parsed, (), is_request=False) and (title := quote(parsed, parsed.title)):
        found["security"] = title
    if "crash" not in found and (line := next(_lines_of_death(parsed), None)):
        found["crash"] = line
    return [
        SeveritySign(kind=kind, severity=severity, quote=found[kind])
        for kind, severity in _SEVERITIES.items()
        if kind in found
    ]


def _find_sentence(parsed: ParsedIssue, kind: SignKind, sentences: list[str]) -> Quote | None:
    for sentence in sentences:
        for match in _PATTERNS[kind].finditer(sentence):
            if _NEGATED.search(sentence[max(0, match.start() - 40) : match.start()]):
                continue
            if place := quote(parsed, sentence):
                return place
    return None


def _lines_of_death(parsed: ParsedIssue) -> Iterator[Quote]:
    for block in parsed.code[:_MAX_CODE_BLOCKS]:
        match = _DEATH.search(block.text[:MAX_CHARS]) or _DEATH.search(block.text[-MAX_CHARS:])
        if match is None:
            continue
        text = match.string
        start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        if place := quote(parsed, text[start : end if end >= 0 else None].strip()):
            yield place
