"""Finds the sentences that say how bad a bug is: lost data, a crash of the whole program, a security hole.

Without such a sentence there is no severity. A word alone says little: a cache may delete its files, and an exception
that a caller can catch is no crash of the program. A vulnerability of this project does not belong in public.
"""

import re
from collections.abc import Iterator, Sequence

from triage.domain.findings import Severity
from triage.domain.issue import ParsedIssue, Quote, SeveritySign, SignKind
from triage.read.text_signs import MAX_CHARS, find_crash_words, find_sentences, quote, searchable_text

_MAX_ATTACK_CHARS = 5_000
_LABEL = re.compile(
    r"^(?:(?:type|kind)[:/ -]*)?(?:security|vulnerability)(?: (?:issue|report|bug|vulnerability))?$", re.I
)
_NAMES = (
    r"vulnerabilit(?:y|ies)|CVE-\d{4}-\d{4,}|0-?day|security (?:issue|hole|bug|flaw|vulnerability|breach|disclosure)|"
    r"XSS|CSRF|SSRF|XXE|RCE|IDOR|ReDoS|(?:cross[- ]site|server[- ]side) (?:scripting|request forgery)|"
    r"(?:arbitrary|remote) (?:code|commands?|shell) execution|"
    r"(?:(?:no)?sql|code|(?:os |shell )?command|shell|header|crlf|ldap|template|log|html|xpath|prompt|argument) "
    r"injections?|arbitrary files? (?:reads?|writes?|access|deletion|overwrite|upload|disclosure|download)|"
    r"path traversal|zip[- ]slip|zip bomb|billion laughs|privilege escalation|clickjacking|prototype pollution|"
    r"(?:auth\w*|filter|sandbox|sanitizer) bypass|(?:session|account) (?:hijack\w*|takeover|fixation)|"
    r"(?:regex|regular expression) denial of service|denial[- ]of[- ]service|open redirect(?:s|ion)?|"
    r"(?:insecure|unsafe) deserialization"
)
_CLAUSES = (
    r"vulnerable (?:to|endpoint|version|code)|deserializ\w+ of untrusted|unauthenticated (?:access|users?|read|write)|"
    r"(?:execut|run|inject)(?:e|es|ing|s|ning)? (?:an? )?arbitrary (?:\w+ )?(?:code|commands?|javascript)|"
    r"(?:read|write|delete|overwrite)s? arbitrary files|(?:directory|dir) traversal (?:attack|vulnerab|via|allows|in)|"
    r"bypass(?:es|ing)? (?:the )?(?:auth\w*|permission checks?|access controls?|login|2fa|mfa)|"
    r"leaks? (?:the|a|my) token|(?:leak|disclos)(?:s|es|ed|ing)? (?:\w+ ){0,3}(?:passwords?|secrets?|credentials|"
    r"private keys?|api keys?|(?:access|auth|session|api|bearer|refresh|reset) tokens?|session (?:ids?|cookies?))|"
    r"(?:passwords?|secrets?|credentials|private keys?|api keys?|tokens?) (?:\w+ ){0,3}(?:in|as) "
    r"(?:plain|clear)[- ]?text"
)
_WEAK_NAMES = (
    r"security (?:problem|risk|concern|implications?)|use[- ]after[- ]free|(?:(?:heap|stack)[- ])?buffer[- ]overflow|"
    r"out[- ]of[- ]bounds (?:read|write)"
)
"""In a title, these are often faults that nobody can abuse; the text has to speak of somebody who does."""
_NO_NOUN_AFTER = (
    r"(?=\W*$|\s*[^\w\s-]|\s(?:affecting|after|against|allows?|and|are|as|at|attacks?|because|bug|by|can|could|due|"
    r"during|exploit|flaw|for|found|from|if|in|inside|is|issue|leads?|may|on|or|possible|problem|risk|through|to|using|"
    r"via|vulnerab\w+|when|while|with|within|without)\b)"
)
"""In `SQL injection tutorial` and `SSRF guard`, the noun behind the name of an attack is what the text is about."""
_OTHER_LANGUAGES = (
    r"漏洞|脆弱性|취약점|уязвимост|vulnerabilidad|vulnérabilit|vulnerabilità|Sicherheitslücke|Schwachstelle|"
    r"(?:SQL|命令|代码|代碼)\s?(?:注入|インジェクション|인젝션)|"
    r"(?:inyección|injeção|injection|iniezione) (?:de |di )?SQL"
)
_ATTACK = re.compile(rf"\b(?:(?:{_NAMES}){_NO_NOUN_AFTER}|(?:{_CLAUSES})\b)|{_OTHER_LANGUAGES}", re.I)
_WEAK_ATTACK = re.compile(rf"\b(?:{_WEAK_NAMES}){_NO_NOUN_AFTER}", re.I)
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
    r"^\W*(?:upgrade|update)\b|\b(?:npm audit|dependabot|snyk|trivy|grype|nodesecurity|dependency[- ]check|"
    r"dependenc(?:y|ies)|transitive|bump|(?:upgrade|update) (?:\w+ ){0,2}(?:to|from|version)|outdated|scanner|scans?|"
    r"false[- ](?:positive|negative)s?|detection|advisory database)\b",
    re.I,
)
"""Vulnerabilities of other projects are public; they only have to be updated. And tools report them."""


_MEMORY_FAULT = re.compile(
    r"(?:Address|HWAddress|Memory)Sanitizer: (?:(?:heap|stack|global|dynamic-stack|container|calloc)\S*overflow|"
    r"(?:heap|stack)-use-after\S*|use-after-poison|attempting (?:double-free|free on)|bad-free|stack-buffer-underflow|"
    r"tag-mismatch)"
)
"""What a sanitizer says of memory that is not the program's; not of leaks and null pointers."""
_POTENTIAL = re.compile(
    r"(?i)\b(?:potential|possible|may|might|could|can)\b.{0,80}\b(?:security (?:issue|hole|vuln\w+|problem|impact)|"
    r"vulnerabilit\w+|exploit\w*|(?:arbitrary|remote) code execution)"
)
_DEFENCE = re.compile(
    r"(?i)\b(?:counter-?measures?|mitigat\w+|harden\w*|protect\w*|prevent\w*|defen[cs]e\w*|resist\w+|against|avoid\w*|"
    r"threat models?|in order to|should|would|not (?:a|an) |if you (?:think|believe|have|find|found|discover\w*)\b)"
)
"""Of a sentence that speaks of attacks because it thinks of a design, or of what others may report."""
_PUBLISHED = re.compile(
    r"(?i)\bgithub\.com/advisories/GHSA-|\bnvd\.nist\.gov/vuln/|\bcve\.org/CVERecord|\bcve\.mitre\.org/|"
    r"\bosv\.dev/vuln|\brustsec\.org/advisories/|\b(?:security\.)?snyk\.io/vuln|# npm audit report"
)
"""Everybody can read an advisory that is linked, and the output of a scanner is made of such."""


def reports_vulnerability(parsed: ParsedIssue, labels: Sequence[str], *, asks_for_feature: bool) -> bool:
    """Whether the report shows how this project can be attacked, or says that it can.

    `asks_for_feature` says that it asks for something new.
    """
    if _KNOWN_ELSEWHERE.search(parsed.title):
        return False
    if any(map(_LABEL.search, labels)):
        return True
    if any(_MEMORY_FAULT.search(text) for text in [parsed.prose, *(block.text for block in parsed.code)]):
        return True
    attempt = _PAYLOAD.search(parsed.text[:_MAX_ATTACK_CHARS])
    if attempt is None and any(map(_PUBLISHED.search, [*parsed.links, parsed.text])):
        return False
    if _PREFIX.search(parsed.title):
        return True
    if asks_for_feature or _DEFENCE.search(parsed.title):
        return False
    sentences = [one for one in find_sentences(searchable_text(parsed)[:_MAX_ATTACK_CHARS]) if not _DEFENCE.search(one)]
    is_abused = any(map(_ABUSE.search, sentences))
    if _ATTACK.search(parsed.title) or _WEAK_ATTACK.search(parsed.title):
        return is_abused or _ATTACK.search(parsed.title) is not None
    if _KNOWN_ELSEWHERE.search(parsed.prose[:_MAX_ATTACK_CHARS]):
        return False
    crashes = bool(parsed.traces) or find_crash_words(searchable_text(parsed)) != ""
    return (
        any(map(_CLAIM.search, sentences))
        or (crashes and any(map(_POTENTIAL.search, sentences)))
        or any(_ABUSE.search(one) and (_ATTACK.search(one) or _WEAK_ATTACK.search(one)) for one in sentences)
        or (is_abused and attempt is not None)
    )


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
        rf"\b(?:data[- ]loss\b|los(?:e|es|ing|t) {_OWN}{_VALUABLES}\b|(?<!ing of ){_OWN}{_VALUABLES} (?:is|are|gets?|"
        rf"got|was|were|becomes?) (?:\w+ )?"
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
    if reports_vulnerability(parsed, (), asks_for_feature=False) and (title := quote(parsed, parsed.title)):
        found["security"] = title
    if "crash" not in found and (line := next(_find_lines_of_death(parsed), None)):
        found["crash"] = line
    return [
        SeveritySign(kind=kind, severity=severity, quote=found[kind])
        for kind, severity in _SEVERITIES.items()
        if kind in found
    ]


def _find_sentence(parsed: ParsedIssue, kind: SignKind, sentences: list[str]) -> Quote | None:
    """Return the first sentence with a sign of this kind that is not negated; None without any."""
    for sentence in sentences:
        for match in _PATTERNS[kind].finditer(sentence):
            if _NEGATED.search(sentence[max(0, match.start() - 40) : match.start()]):
                continue
            if place := quote(parsed, sentence):
                return place
    return None


def _find_lines_of_death(parsed: ParsedIssue) -> Iterator[Quote]:
    """Yield the lines of code blocks that say that a process has died."""
    for block in parsed.code[:_MAX_CODE_BLOCKS]:
        match = _DEATH.search(block.text[:MAX_CHARS]) or _DEATH.search(block.text[-MAX_CHARS:])
        if match is None:
            continue
        text = match.string
        start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        if place := quote(parsed, text[start : end if end >= 0 else None].strip()):
            yield place
