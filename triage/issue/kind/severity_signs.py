"""Recognizes a report of a vulnerability, which does not belong in public, and the sentences that say how bad a bug is.

Without such a sentence there is no severity. A word alone says little: a cache may delete its files, and who cannot
start a debugger can work on.
"""

import re
from collections.abc import Iterator, Sequence

from triage.domain.findings import Severity
from triage.domain.issue import ParsedIssue, Quote, Regression, SeveritySign, SignKind
from triage.issue.text_signs import MAX_CHARS, find_sentences, quote, searchable_text

_MAX_CHARS = 5_000
_LABEL = re.compile(r"^(?:type[:/ -]*)?(?:security|vulnerability)\b", re.I)
_NO_ATTACK = (
    r"(?![- ](?:detect|scan|check|rule|plugin|module|tests?\b|payload|protect|prevent|middleware|token|filter|header|"
    r"warning|safe|mitigat|error|cookie|verif|fail|valid|exempt|audit|attempt|lesson|demo|example|of\b))"
)
"""What follows the name of an attack where nobody is attacked: a defence, or a tool that looks for attacks."""
_ATTACKS: dict[str, str] = {
    "vulnerability": r"vulnerabilit(?:y|ies)|vulnerable (?:to|endpoint|version|code)|CVE-\d{4}-\d{4,}|CVSS\b|0-?day\b",
    "security": r"security (?:issue|hole|bug|flaw|vulnerability|breach|disclosure)",
    "risk": r"security (?:problem|risk|concern|implications?)",
    "script": r"(?:stored |reflected |DOM[- ]based |self-?)?XSS|cross[- ]site (?:scripting|request forgery)|CSRF|SSRF|"
    r"server[- ]side request forgery|XXE",
    "execution": r"RCE|remote (?:code|command) execution|(?:arbitrary|remote) (?:code|commands?|shell) execution|"
    r"(?:execut|run|inject)(?:e|es|ing|s|ning)? (?:an? )?arbitrary (?:\w+ )?(?:code|commands?|javascript)|"
    r"(?:(?:no)?sql|code|(?:os |shell )?command|shell|header|crlf|ldap|template|log|html|xpath|prompt|argument) "
    r"injections?",
    "files": r"arbitrary files? (?:reads?|writes?|access|deletion|overwrite|upload|disclosure|download)|"
    r"(?:read|write|delete|overwrite)s? arbitrary files|path traversal|zip[- ]slip|"
    r"(?:directory|dir) traversal (?:attack|vulnerab|via|allows|in)",
    "rights": r"privilege escalation|auth(?:entication|orization)? bypass|bypass(?:es|ing)? (?:the )?(?:auth\w*|"
    r"permission checks?|access controls?|login|2fa|mfa)|unauthenticated (?:access|users?|read|write|rce)|IDOR|"
    r"(?:session|account) (?:hijack\w*|takeover|fixation)",
    "memory": r"use[- ]after[- ]free|(?:heap|stack)[- ]buffer[- ]overflow|buffer overflow|"
    r"out[- ]of[- ]bounds (?:read|write)",
    "service": r"ReDoS|(?:regex|regular expression) denial|denial[- ]of[- ]service|zip bomb|billion laughs",
    "other": r"open redirect(?:s|ion)?|deserializ\w+ of untrusted|(?:insecure|unsafe) deserialization|clickjacking|"
    r"prototype pollution",
    "leak": r"(?:leak|disclos)(?:s|es|ed|ing)? (?:\w+ ){0,3}(?:passwords?|secrets?|credentials|private keys?|api keys?|"
    r"(?:access|auth|session|api|bearer|refresh|reset) tokens?|session (?:ids?|cookies?))|leaks? (?:the|a|my) token",
    "secret": r"expos(?:es|ed|ing) (?:\w+ ){0,3}(?:passwords?|secrets?|credentials|private keys?|"
    r"api keys?|(?:access|auth|session|api|bearer|refresh) tokens?|session (?:ids?|cookies?))",
    "plain": r"(?:passwords?|secrets?|credentials|private keys?|api keys?|tokens?) (?:\w+ ){0,3}(?:in|as) "
    r"(?:plain|clear)[- ]?text",
}
_OTHER_LANGUAGES = re.compile(
    r"漏洞|脆弱性|취약점|уязвимост|vulnerabilidad|vulnérabilit|vulnerabilità|Sicherheitslücke|Schwachstelle|"
    r"(?:SQL|命令|代码|代碼)\s?(?:注入|インジェクション|인젝션)|"
    r"(?:inyección|injeção|injection|iniezione) (?:de |di )?SQL",
    re.I,
)
_SIGNS = {name: re.compile(rf"\b(?:{words})\b{_NO_ATTACK}", re.I) for name, words in _ATTACKS.items()}
_WEAK_ALONE = frozenset({"memory", "risk", "secret"})
"""In a title, these are often faults that nobody can abuse; the text has to speak of somebody who does."""
_ABUSE = re.compile(
    r"\b(?:attackers?|malicious(?:ly)?|crafted|exploit(?:s|able|ed|ing|ation)?|proof[- ]of[- ]concept|\bPoC\b|hackers?|"
    r"responsible disclosure|untrusted (?:input|data|users?)|any(?:one|body)(?: else)? (?:can|could|may|is able to)|"
    r"without (?:any |being )?(?:authenticat\w+|authoriz\w+|logg\w+ in|a password|permissions?)|"
    r"(?:any|every|other|another) user(?:s|'s)? (?:can|could|data|files?|account)|stolen?|steals?)",
    re.I,
)
_PAYLOAD = re.compile(
    r"(?:\.\./){2,}|/etc/(?:passwd|shadow)|<script>\s?alert|onerror=|'\s?or\s'?1'?\s?=\s?'?1|\bunion select\b|"
    r"\$\{jndi:|;\s?(?:cat|rm|curl|id)\b|__import__\(|javascript:alert|%2e%2e",
    re.I,
)
_CLAIM = re.compile(
    r"\b(?:(?:this|it|that|which) (?:is|may be|might be|could be|seems to be|looks like)|found|discovered|reporting|"
    r"to report) (?!not\b|no\b)(?:an? )?(?:\w+ ){0,2}?"
    r"(?:security (?:issue|hole|bug|flaw|vulnerability)|vulnerability)\b"
    r"(?! (?:scan|check|report))",
    re.I,
)
"""The reporter calls it one."""
_PREFIX = re.compile(r"^\W{0,3}(?:security|vulnerability)\s?[\]:)]", re.I)
_KNOWN_ELSEWHERE = re.compile(
    r"\b(?:npm audit|dependabot|snyk|trivy|grype|nodesecurity|dependency[- ]check|dependenc(?:y|ies)|transitive|bump|"
    r"(?:upgrade|update) (?:\w+ ){0,2}(?:to|from|version)|outdated|scanner|scans?|false[- ](?:positive|negative)s?|"
    r"detection|advisory database)\b",
    re.I,
)
"""Vulnerabilities of other projects are public; they only have to be updated. And tools report them."""


def reports_vulnerability(parsed: ParsedIssue, labels: Sequence[str], *, is_request: bool) -> bool:
    """Whether the text describes how this project can be attacked. `is_request` says that it asks for something new."""
    if _KNOWN_ELSEWHERE.search(parsed.title):
        return False
    if any(map(_LABEL.search, labels)) or _PREFIX.search(parsed.title):
        return True
    if is_request:
        return False
    named = _find_attacks(parsed.title)
    text = searchable_text(parsed)[:_MAX_CHARS]
    abuse = _ABUSE.search(text) is not None
    if named:
        return abuse or bool(named - _WEAK_ALONE) or len(named) > 1
    if _KNOWN_ELSEWHERE.search(text):
        return False
    in_text = _find_attacks(text)
    shows_attack = _PAYLOAD.search(parsed.text[:_MAX_CHARS]) is not None
    is_claimed = _CLAIM.search(text) is not None
    return is_claimed or len(in_text) > 1 or (len(in_text) + shows_attack > 0 and abuse)


def _find_attacks(text: str) -> set[str]:
    named = {name for name, pattern in _SIGNS.items() if pattern.search(text)}
    return named | {"vulnerability"} if _OTHER_LANGUAGES.search(text) else named


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
        r"(?:indent|punctuation|fruit))|freez(?:es|ing)\b|"
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
        r"(?<!will )takes? (?:too long|forever|(?:several|many|\d+) (?:minutes|hours))|"
        r"wastes? (?:\w+ ){0,3}(?:memory|disk|space|cpu|bandwidth))"
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
    r"(?i)(?:\b(?:no|not|never|without|nor|neither|avoid\w*|prevent\w*|fix(?:e[sd]|ing)?|if it|should|would|could|"
    r"might|may|to|instead of|than)\s(?:\w+\s){0,2}|"
    r"n['’]t\s(?:\w+\s){0,2}|[\"“])$"
)
"""What stands before a word that says nothing: also a quotation mark, since a message is no observation."""
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
    """Return the sign that says the most; None where nothing says how bad it is."""
    return next(iter(find_severity_signs(parsed, regression)), None)


def find_severity_signs(parsed: ParsedIssue, regression: Regression | None) -> list[SeveritySign]:
    """Return one sign per kind, the worst first, each with its sentence."""
    sentences = [parsed.title, *find_sentences(parsed.prose[:MAX_CHARS])][:_MAX_SENTENCES]
    stated = [sentence for sentence in sentences if not sentence.endswith("?")]
    found = {kind: place for kind in _PATTERNS if (place := _find_sentence(parsed, kind, stated))}
    security = found.get("security")
    if security and security.text not in parsed.title and not reports_vulnerability(parsed, (), is_request=False):
        del found["security"]
    if "crash" not in found and (line := next(_lines_of_death(parsed), None)):
        found["crash"] = line
    # Without the version that worked, it is what the reporter is used to: `no longer possible to retry`.
    if regression is not None and regression.worked_in and regression.quote != found.get("performance"):
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
