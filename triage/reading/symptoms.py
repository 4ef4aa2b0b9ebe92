"""Finds what the bug does to users, with the words that say so. The rules derive the severity from it."""

import re
from collections.abc import Iterator
from typing import Literal

from triage.domain.issue import Reading
from triage.domain.value import Value
from triage.reading.text_signs import MAX_CHARS, searchable_text

SymptomKind = Literal[
    "security",
    "data_loss",
    "crash",
    "regression",
    "hang",
    "wrong_result",
    "performance",
    "blocks_everyone",
    "cosmetic",
    "documentation",
]


class Symptom(Value):
    kind: SymptomKind
    phrase: str


_WORDS: dict[SymptomKind, str] = {
    "security": (
        r"vulnerabilit(?:y|ies)\b|CVE-\d{4}-\d+|security (?:issue|hole|bug|flaw|risk|problem|implication\w*)|XSS\b|"
        r"CSRF (?:bypass|attack|vuln)|SQL injection|(?:code|command|header|shell|template) injection|"
        r"remote code execution|RCE\b|arbitrary (?:code|file (?:read|write)|command)|path traversal|"
        r"directory traversal|privilege escalation|auth(?:entication|orization)? bypass|bypass(?:es|"
        r"ing)? (?:auth\w*|permission|access|login|security)|(?:leak|expos|disclos)\w* (?:\w+ ){0,3}(?:passwords?|"
        r"secrets?|tokens?|credentials?|api keys?|private keys?|session ids?)|buffer overflow|heap-buffer-overflow|"
        r"use[- ]after[- ]free|denial[- ]of[- ]service|ReDoS\b|open redirect|SSRF\b"
    ),
    "data_loss": (
        r"data[- ]loss|los(?:e|es|ing|t) (?:\w+ ){0,3}(?:data|work|files?|rows?|records?|changes|entries|messages|"
        r"history)\b|(?:data|files?|database|table|index|archive|image) (?:\w+ ){0,2}(?:is|are|gets?|got|was|were|"
        r"becomes?) (?:\w+ )?(?:lost|corrupt\w*|deleted|overwritten|wiped|truncated)|corrupts? (?:the |my |"
        r"our )?\w+|(?:data|file|database|memory|heap|index) corruption|(?:deletes|wipes|erases|overwrites|"
        r"truncates|drops) (?:\w+ ){0,3}(?:data|files?|rows?|records?|tables?|database|content\w*)"
    ),
    "crash": (
        r"crash(?:es|ed|ing)?\b|segfaults?\b|segmentation fault|core dumped|SIGSEGV|SIGABRT|panic(?:s|"
        r"ked)?\b(?! mode)|aborts?\b(?= (?:with|the process|on))|bus error|unhandled (?:exception|rejection|"
        r"promise)|uncaught \w*(?:error|exception)|internal server error|blue screen|stack overflow\b(?! question)|"
        r"out of memory|OOM\b"
    ),
    "regression": (
        r"(?<!linear )(?<!logistic )(?<!ridge )(?<!lasso )(?<!polynomial )(?<!quantile )regression\b(?! (?:model|"
        r"analysis|test|problem|task|tree|line|coefficient|example|forest|target|metric|estimator|algorithm|loss|"
        r"method|plot|result))|used to (?:work|be|return|pass|give)|no longer (?:work|compile|build|start|run|"
        r"possible|load|pass|return|accept|support|parse|show)\w*|(?:worked|works|was working|were working|was fine|"
        r"works fine|ran fine) (?:\w+ )?(?:in|with|on|before|until|under|prior to)\b (?:\w+ ){0,2}(?:v?\d+(?:\.\d+)*|"
        r"the (?:last|previous|old)|previous|earlier|older|updat\w+|upgrad\w+)|(?:since|after|"
        r"when) (?:\w+ ){0,2}(?:updat|upgrad)(?:e|ing|ed)\b(?: \w+)?|broken (?:since|in|by|after) (?:v?\d+(?:\.\d+)*|"
        r"the|commit|#)|stopped working|introduced (?:in|by|with) (?:#|v?\d+(?:\.\d+)*|commit|PR|the)|"
        r"(?:first )?bad commit|git bisect|bisected"
    ),
    "hang": (
        r"hangs?\b(?! (?:out|on to))|hung\b|hanging\b|freezes?\b|frozen\b(?=[ ,.]*(?:up|when|after|and|for))|"
        r"deadlock\w*|infinite (?:loop|recursion)|never (?:returns?|finish\w*|terminates?|ends?|completes?|"
        r"resolves?)|stuck (?:at|in|on|forever|while)|unresponsive|loops? forever|blocks? forever|waits? forever|"
        r"livelock"
    ),
    "performance": (
        r"(?:very|too|extremely|really|much|significantly|terribly|super|painfully|\d+x|times) slow(?:er|ly)?\b|"
        r"slow(?:er)? (?:than|since|down|when|after)|performance (?:issue|problem|degradation|regression|drop|"
        r"penalty|hit)|poor performance|memory leak\w*|leaks? (?:memory|file descriptors?|handles?|connections?|"
        r"goroutines?|threads?)|high (?:cpu|memory)|100% cpu|takes? (?:too long|forever|(?:several|many|"
        r"\d+) (?:seconds|minutes|hours))|quadratic|exponential time|N\+1 quer"
    ),
    "blocks_everyone": (
        r"(?:all|every|any) (?:\w+ )?(?:users?|customers?|requests?|builds?|installs?|installations?|"
        r"deployments?) (?:\w+ )?(?:is |are |gets? )?(?:affected|fail\w*|broken|blocked|crash\w*|down)|"
        r"affects (?:all|every)(?:one|body)?\b|(?:production|prod|site|server|service|master|main|trunk|"
        r"CI) (?:\w+ )?is (?:completely )?(?:down|broken)|(?:can ?not|can't|cannot|unable to|impossible to|"
        r"fails? to|won't|doesn't) (?:be )?(?:install(?:ed)?|start|boot|launch|import|compile|log ?in|upgrade)\b|"
        r"completely (?:broken|unusable|unable)|totally broken|unusable|no workaround|blocker\b|show-?stopper|"
        r"outage\b|blocking (?:our|us|the) (?:release|upgrade|deploy\w*)"
    ),
    "wrong_result": (
        r"(?:wrong|incorrect|invalid|bogus|inaccurate|inconsistent|unexpected|nonsens\w+|"
        r"erroneous) (?:\w+ ){0,2}(?:results?|values?|outputs?|answers?|sql|code|order(?:ing)?|type|sign|numbers?|"
        r"count|shape|index|data|query|response|behavio\w+|latex|labels?|path|url|date|time|encoding|format)|"
        r"(?:incorrectly|wrongly|erroneously|mistakenly)\b|(?:returns?|gives?|produces?|computes?|outputs?|yields?|"
        r"shows?|prints?|generates?) (?:the |a |an )?(?:wrong|incorrect|invalid|bogus|different|nan|null|none|false|"
        r"empty|nothing|too)\b|(?:silently|quietly) (?:\w+ )?(?:ignor|drop|fail|discard|chang|convert|return)\w*|"
        r"(?:is|are|gets?) (?:silently )?ignored|off[- ]by[- ]one|does(?:n't| not) (?:return|match|respect|handle|"
        r"work|preserve|apply|include|take into account)|not (?:respected|honou?red|applied|escaped|preserved)"
    ),
    "cosmetic": (
        r"typos?\b|misspell\w*|cosmetic|misaligned|alignment (?:is|issue)|overlapp?(?:s|ing)?\b|(?:wrong|ugly|odd|"
        r"weird) (?:colou?r|font|icon|spacing|margin|padding)|whitespace (?:in|issue)|wording|capitali[sz]ation|"
        r"indentation (?:is|of)|nitpick"
    ),
    "documentation": (
        r"(?:docs|documentation|docstrings?|readme|changelog|man page|tutorial) (?:\w+ ){0,3}(?:is|are|says?|"
        r"states?|should|does|do|has|claims?|link\w*|page|example\w*|mentions?|needs?)\b|(?:in|of|to|from|"
        r"on) the (?:docs|documentation|readme)\b|undocumented|not documented|broken links?"
    ),
}
_PATTERNS = {kind: re.compile(rf"\b(?:{words})", re.I) for kind, words in _WORDS.items()}
_ORDER = {kind: place for place, kind in enumerate(_WORDS)}
_NEGATED = re.compile(
    r"(?:\b(?:no|not|never|without|n't|isn't|doesn't|don't|didn't|nor|neither|avoid\w*|prevent\w*|if "
    r"it)\s(?:\w+\s){0,2}|n't\s(?:\w+\s){0,2})$",
    re.I,
)
_NEGATION_MATTERS: frozenset[SymptomKind] = frozenset(
    {"security", "data_loss", "crash", "regression", "hang", "performance", "cosmetic"}
)
_PROCESS_DIES = frozenset({"c", "go", "rust"})
"""In these languages one frame is enough: a trace is printed when the process ends."""


def find_symptoms(reading: Reading) -> list[Symptom]:
    """One symptom per kind, the worst first, in the issue's own words.

    Without words for a crash, a stack trace counts as one, with its error as the words.
    """
    text = searchable_text(reading)
    found = [
        Symptom(kind=kind, phrase=phrase)
        for kind, pattern in _PATTERNS.items()
        if (phrase := _find_phrase(kind, pattern, text))
    ]
    if not any(symptom.kind == "crash" for symptom in found):
        found.extend(_find_raised(reading))
    return sorted(found, key=lambda symptom: _ORDER[symptom.kind])


def _find_phrase(kind: SymptomKind, pattern: re.Pattern[str], text: str) -> str:
    for match in pattern.finditer(text):
        if kind in _NEGATION_MATTERS and _NEGATED.search(text[max(0, match.start() - 40) : match.start()]):
            continue
        return " ".join(match[0].split())
    return ""


def _find_raised(reading: Reading) -> Iterator[Symptom]:
    for message in reading.error_messages[:3]:
        native = _PATTERNS["crash"].search(message[:MAX_CHARS])
        if native:
            yield Symptom(kind="crash", phrase=message)
            return
    for trace in reversed(reading.traces):
        is_crash = len(trace.frames) > 1 or trace.language in _PROCESS_DIES
        if is_crash and trace.language != "diagnostic" and (trace.exception or trace.message):
            yield Symptom(kind="crash", phrase=(trace.exception or trace.message or "").strip())
            return
