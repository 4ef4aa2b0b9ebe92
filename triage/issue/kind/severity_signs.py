"""Finds the sentences that say how bad a bug is. Without one there is no severity.

A word alone says little: a cache may delete its files, and who cannot start a debugger can work on.
"""

import re
from collections.abc import Iterator

from triage.domain.findings import Severity
from triage.domain.issue import ParsedIssue, Quote, Regression, SeveritySign, SignKind
from triage.issue.sentences import MAX_CHARS, find_sentences, quote

_SEVERITIES: dict[SignKind, Severity] = {
    "security": "CRITICAL",
    "data_loss": "CRITICAL",
    "blocks_everyone": "CRITICAL",
    "crash": "HIGH",
    "hang": "HIGH",
    "regression": "HIGH",
    "performance": "MEDIUM",
    "cosmetic": "LOW",
    "documentation": "LOW",
}
_OWN = (
    r"(?:(?:my|our|your|their|his|her|the users?['’]?s?|users?['’]?s?|customers?['’]?s?|"
    r"all(?: (?:of )?(?:my|our|the|your))?|existing|the (?:whole|entire)) )"
)
_VALUABLES = (
    r"(?:\w+ ){0,2}(?:data|work|files?|documents?|rows|records|changes|entries|messages|history|photos|database|"
    r"repository|wallet|settings|account)"
)
_WORDS: dict[SignKind, str] = {
    "security": (
        r"\b(?:security (?:issue|hole|bug|flaw|risk|problem|vulnerability|implications?)|vulnerabilit(?:y|ies)\b|"
        r"CVE-\d{4}-\d+|"
        r"remote code execution|RCE\b|arbitrary (?:code|command) execution|(?:execute|run) arbitrary (?:code|"
        r"commands)|arbitrary file (?:read|write|access)|"
        r"(?:XSS|CSRF|SSRF|SQL injection|command injection|code injection|path traversal|directory traversal|"
        r"open redirect|ReDoS)\b|"
        r"privilege escalation|auth(?:entication|orization)? bypass|bypass(?:es|ing)? (?:the )?(?:auth\w*|"
        r"permission|access control|login)|"
        r"(?:leak|expos|disclos)\w* (?:\w+ ){0,3}(?:passwords?|secrets?|credentials?|api keys?|private keys?|"
        r"session ids?)|"
        r"heap-buffer-overflow|(?:heap|buffer)[- ]overflow (?:in|when|on|vuln)|use[- ]after[- ]free|cuts? (?:\w+ "
        r")?security)"
    ),
    "data_loss": (
        rf"\b(?:data[- ]loss\b|los(?:e|es|ing|t) {_OWN}{_VALUABLES}\b|{_OWN}{_VALUABLES} (?:is|are|gets?|got|was|"
        rf"were|becomes?) (?:\w+ )?"
        rf"(?:lost|corrupt\w*|deleted|overwritten|wiped|gone|destroyed)\b|(?:deletes|wipes|erases|overwrites|"
        rf"destroys|corrupts|deleted|wiped|erased|overwrote|"
        rf"corrupted) {_OWN}{_VALUABLES}\b|(?:the )?(?:database|repository|wallet|disk|partition) (?:is|gets?|"
        rf"got|was|becomes?) (?:\w+ )?(?:corrupt\w*|wiped|"
        rf"destroyed|lost)|(?:data|database|file system) corruption\b|silent(?:ly)? (?:corrupts?|loses?|los\w+ data))"
    ),
    "blocks_everyone": (
        r"\b(?:(?:our |the )?(?:production|prod|service|site|website|cluster) (?:is|was|went) (?:completely |"
        r"totally )?(?:down|broken|unavailable)\b|"
        r"(?:all|every|any) (?:of )?(?:our |my |the )?(?:users?|customers?|clients?) (?:\w+ )?(?:are |is "
        r")?(?:affected|blocked|broken|cannot|can't|unable)|"
        r"affects (?:everyone|everybody|all (?:of )?(?:our |the )?(?:users|customers))|(?:completely|totally|"
        r"entirely) (?:unusable|broken|down)\b|"
        r"(?:show-?stopper|release blocker|production outage|outage in production)\b|blocking (?:our|the) "
        r"(?:release|production|deployments?)|"
        r"no ?(?:body|one) can (?:\w+ )?(?:log ?in|work|use|install|start|connect)|(?:app|application|program|"
        r"tool|site|extension|library|it) (?:is|becomes|became|got) unusable)"
    ),
    "crash": (
        r"\b(?:crash(?:es|ed|ing)?\b(?![- ](?:course|test|report|log|dump|reporter|pad|handler|safe|recovery|"
        r"analy))|seg(?:mentation )?faults?(?:ed|ing)?\b|"
        r"core dump(?:s|ed)?\b|SIGSEGV|SIGABRT|SIGILL|SIGBUS|bus error\b|(?:panics|panicked)\b|(?:it|process|"
        r"program|server|daemon|node|app) aborts?\b|"
        r"aborted \(core|double free|(?:killed by|ran|runs|running|goes|went) (?:the )?(?:out of memory|OOM)|out "
        r"of memory error|OOM[- ]?kill\w*|blue screen|"
        r"(?:exits?|quits?|terminates?|dies|died) (?:unexpectedly|abnormally|with (?:a )?signal))"
    ),
    "hang": (
        r"\b(?:hangs?\b(?! (?:out|on to|around|up)\b)|(?:is |are |gets? |was |it )?hung\b|hanging\b(?! "
        r"(?:indent|punctuation))|freez(?:es|ing)\b|"
        r"(?:is|are|gets?|becomes?|completely|deadly|totally|be) (?:\w+ )?frozen\b|froze\b|deadlocks?(?:ed)?\b|"
        r"infinite (?:loop|recursion)\b|never (?:returns|finish(?:es)?|"
        r"terminates|completes|ends)\b|(?:get|gets|is|stays|got) stuck (?:(?:at|on|in)\b(?! \d)|forever|loading)\b|"
        r"(?:becomes?|is|gets|completely) unresponsive\b|loops? forever|(?:blocks?|waits?) forever|livelock)"
    ),
    "performance": (
        r"\b(?:(?:much|significantly|considerably|extremely|unbearably|painfully|terribly|\d+(?:\.\d+)?x|\d+ "
        r"times) slower\b|(?:extremely|very|painfully|terribly|unbearably|"
        r"unusably|too) slow\b|slow(?:s|ed)? down\b|(?:performance|speed) (?:degradation|regression|drop)|memory "
        r"leaks?\b|leaks? (?:memory|file descriptors?|"
        r"handles?|connections?|goroutines?|threads?)\b|100 ?% (?:of )?(?:the )?cpu|(?:high|excessive) (?:cpu|"
        r"memory) (?:usage|consumption|load)|"
        r"takes? (?:too long|forever|(?:several|many|\d+) (?:minutes|hours))|wastes? (?:\w+ ){0,3}(?:memory|disk|"
        r"space|cpu|bandwidth))"
    ),
    "cosmetic": (
        r"\b(?:typos?\b|misspell(?:ed|ing|s)\b|(?:purely |just |only |a )?cosmetic\b|(?:very |really )?low[- "
        r"]priority(?! (?:tasks?|queues?|threads?|jobs?|process\w*|items?|work\w*)\b)|"
        r"not (?:very |really |that )?urgent\b|"
        r"(?:a )?(?:minor|tiny|trivial|small) (?:issue|bug|problem|annoyance|glitch|inconvenience|nit))"
    ),
    "documentation": (
        r"\b(?:(?:the |this )?(?:docs?|documentation|docstring|readme|changelog|man page|tutorial)(?: page)? "
        r"(?<!or documentation )(?:is|are) (?:\w+ )?(?:wrong|incorrect|outdated|"
        r"misleading|missing|incomplete|out of date|unclear)|broken links? in (?:the )?(?:docs?|documentation|"
        r"readme)|docfix|"
        r"(?:typo|error|mistake) in (?:the )?(?:docs?|documentation|docstring|readme|tutorial))"
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
    r"(?i)(?:\b(?:no|not|never|without|nor|neither|avoid\w*|prevent\w*|if it|should|would|could|might|may|to|"
    r"instead of|than)\s(?:\w+\s){0,2}|"
    r"n['’]t\s(?:\w+\s){0,2})$"
)
_HARMLESS = re.compile(
    r"(?i)\b(?:confirm\w*|cach\w+|temp(?:orary)?|tmp|lock ?files?|test (?:data|files?|database)|"
    r"build (?:folder|directory|output)|dist)\b"
)
"""What may be deleted without a loss, or is deleted only if the user says so."""
_BY_DESIGN = re.compile(
    r"(?i)\b(?:crash (?:the|your) (?:course|party)|feature request|how (?:do|can|to)|does it crash|is it safe|"
    r"crash-?safe|not sure (?:if|whether))\b"
    r"|^\W*(?:when|if|whenever|in case) .{0,80}, (?:there|it|we|you|the \w+) (?:should|could|would|must)\b"
    r"|^\W*(?:please )?(?:attach|add|include|provide|paste)\b.{0,100}\b(?:if|when)\b"
)
_MAX_SENTENCES = 200
_MAX_CODE_BLOCKS = 20


def find_severity(parsed: ParsedIssue, regression: Regression | None) -> SeveritySign | None:
    """The sign that says the most; None where nothing says how bad it is."""
    return next(iter(find_severity_signs(parsed, regression)), None)


def find_severity_signs(parsed: ParsedIssue, regression: Regression | None) -> list[SeveritySign]:
    """One sign per kind, the worst first, each with its sentence."""
    sentences = [parsed.title, *find_sentences(parsed.prose[:MAX_CHARS])][:_MAX_SENTENCES]
    found = {kind: place for kind in _PATTERNS if (place := _find_sentence(parsed, kind, sentences))}
    if "crash" not in found and (line := next(_lines_of_death(parsed), None)):
        found["crash"] = line
    if regression is not None and regression.quote != found.get("performance"):
        found["regression"] = regression.quote
    return [
        SeveritySign(kind=kind, severity=severity, quote=found[kind])
        for kind, severity in _SEVERITIES.items()
        if kind in found
    ]


def _find_sentence(parsed: ParsedIssue, kind: SignKind, sentences: list[str]) -> Quote | None:
    for sentence in sentences:
        for match in _PATTERNS[kind].finditer(sentence):
            if _NEGATED.search(sentence[max(0, match.start() - 40) : match.start()]) or _BY_DESIGN.search(sentence):
                continue
            if kind == "data_loss" and _HARMLESS.search(sentence):
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
