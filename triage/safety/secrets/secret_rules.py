"""What a rule for secrets is; and those for secrets that are known by what is around them: a name, a header, a URL.

Services' own forms are in `likely_secrets.py`. A value there is masked whatever it looks like; here it must not look
like a word, a placeholder or an expression of a program, because the words around it are ordinary.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

ByteRange = tuple[int, int]

RE2_OPTIONS = re2.Options()
RE2_OPTIONS.log_errors = False
_MAX_LINE_CONTEXT = 300


@lru_cache(maxsize=1_000)
def _compile(pattern: str) -> Any:
    return re2.compile(pattern, RE2_OPTIONS)


@dataclass(frozen=True, slots=True)
class Exemption:
    pattern: str
    target: str = "secret"
    """Where the pattern is searched for: in the `secret`, in the whole `match`, or in the `line`."""

    def applies(self, data: bytes, secret: ByteRange, match: ByteRange) -> bool:
        span = secret if self.target == "secret" else match if self.target == "match" else _line_around(data, match)
        return _compile(self.pattern).search(data[slice(*span)]) is not None


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    pattern: str
    keywords: Sequence[str]
    """In lower case. A text without any of them is not searched."""
    group: int = 0
    """The group of the pattern that holds the secret; 0 stands for the first group that matched, or the whole match."""
    entropy: float = 0.0
    """A secret has more Shannon entropy than this, in bits per character."""
    path: str = ""
    """Pattern of the file paths that the rule is for; empty for all files."""
    exemptions: Sequence[Exemption] = ()
    """A match is no secret when one of them applies."""

    def find(self, data: bytes, path: str) -> Iterator[ByteRange]:
        """Yield byte ranges of the secrets. A text without a path is searched by the rules for certain files too."""
        if self.path and path and not _compile(self.path).search(path):
            return
        pattern = _compile(self.pattern)
        groups = range(1, pattern.groups + 1)
        for match in pattern.finditer(data):
            matched = (number for number in groups if match[number])
            start, end = match.span(self.group or next(matched, 0))
            if start < end and not self._is_exempt(data, (start, end), match.span()):
                yield start, end

    def _is_exempt(self, data: bytes, secret: ByteRange, match: ByteRange) -> bool:
        if self.entropy and _entropy(data[slice(*secret)].strip(b"\n")) <= self.entropy:
            return True
        return any(exemption.applies(data, secret, match) for exemption in self.exemptions)


def _line_around(data: bytes, match: ByteRange) -> ByteRange:
    # A line may be as long as its author likes; gitleaks looks at the whole of it.
    before, after = max(0, match[0] - _MAX_LINE_CONTEXT), match[1] + _MAX_LINE_CONTEXT
    start, end = data.rfind(b"\n", before, match[0]), data.find(b"\n", match[1], after)
    return start + 1 if start >= 0 else before, end if end >= 0 else after


def _entropy(text: bytes) -> float:
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def own_rule(name: str, keywords: str, pattern: str, *exempt: str) -> Rule:
    return Rule(name, pattern, keywords.split(), exemptions=[Exemption(exempt_pattern) for exempt_pattern in exempt])


NAME = (
    r"(?:passw(?:or)?[dt]|mot_?de_?passe|contrase(?:ñ|n)a|senha|passphrase|pwd|(?:\b|[_.])(?:pass|pw)|secret|token|api[_-]?key|access[_-]?key"
    r"|(?:app|signing|encryption|master|private|account|auth|session|hmac|jwt)[_-]?key)"
    r"(?:[_.-]?(?:key|base|value|prod|dev|test|staging|\d{1,2})){0,2}s?"
)
NAMES = (
    "pass motdepasse mot_de_passe contrase senha pw secret token apikey accesskey _key -key appkey signingkey"
    " encryptionkey masterkey privatekey accountkey authkey sessionkey hmackey jwtkey"
)
BLANKS = "[ \t\u00a0]*"
"""As many as it takes to align a value with those of its neighbours."""
QUOTED = (
    r"(?:(?:\"\"\"|\")((?:[^\s\"\\]|\\\S){6,})\r?\n?\"|'((?:[^\s'\\]|\\\S){6,})\r?\n?'|`([^\s`]{6,})\r?\n?`"
    r"|\\['\"`]([^\s'\"\\`]{6,})\\['\"`])"
)
"""A value in quotes of one kind, with escapes and a line's end in it; or, in a string of a program, with escapes before
its quotes."""
SAMPLE = (
    r"^(?:[\[<{(:%]|\*\*|[$#][({]|\.?\$[A-Za-z_]\w*(?:$|[,/.>-])|@\w+[@:]?$|![A-Za-z/]+$|ENC\[)",
    r"(?i)^(?:x+|\.+|pass(?:wd)?|pwd|secret|token|user(?:name)?|passw[o0]rd[0-9!]*)$|^(?:your|my|some|the|new|old)[_.-]",
    r"(?i)change[_-]?(?:it|me)|example|placeholder|dummy|redacted|masked|xxx|\*\*\*|\.\.\.|[$#]\{|\{\{|%\(",
)
"""What documentation and programs write in place of a secret."""
WORDS = (
    r"^[^A-Za-z]*$|^[^0-9#!%^&*?~$@]*$|^[^0-9A-Z]*$|^[^0-9a-z]*$",
    r"(?i)^(?:[a-z]*\d{0,2}|\d{1,4}|[a-z]\d[a-z])(?:[ _./:@+=-]+(?:[a-z]+\d{0,2}|\d{1,4}|[a-z]\d[a-z]))*\d{0,3}[!?]*$",
    r"^[a-z]+(?:\d+[a-z]+){0,2}\d{0,3}$",
    r"(?i)^0x[0-9a-f]+[ul]*$|^\d{4}-\d\d-\d\dt",
)
"""Words with a number behind them, numbers and dates: nobody can tell such a password from prose."""
_OBJECT, _MEMBER = r"[&*!@$-]{0,2}[A-Za-z_$][\w$]*", r"(?:(?:\.|->|::|\?\.)[\w$]+)"
_CODE = (
    r"^[&*!@$-]{0,2}[A-Za-z_$]+(?:\d{1,4}[A-Za-z_$]+){0,2}\d{0,4}[?!,;:)\]}\\]*$",
    rf"^{_OBJECT}{_MEMBER}+[?!,;:)\]}}\\]*$|^{_OBJECT}{_MEMBER}*[?!]?[(\[{{]|^{_OBJECT}{_MEMBER}*(?:{_MEMBER}[,;)]|\.\()",
    r"^(?:[~./]|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*://)|\]\(|&[\w-]+=",
    rf"^{_OBJECT}{_MEMBER}+@[0-9a-f]+$",
)
"""A name, a member, a call, an element, a path, a URL or its next parameter, an object of Java."""
NO_VALUE = r"^\\|^['\"`][+.,;:&)}\]]|\\[dDwWsSb][+*?{)\]]|\\[dDwWsSb]\\|\(\?[:=!<]|\[\^|^#[0-9A-Fa-f]{6}$"
"""What stands between two strings of a program, patterns, and colours."""
PATH_OR_PAIR = r"^[~.]{0,2}/[\w.-]+/|^[A-Za-z][\w.-]*=[^=]"

CONTEXT_RULES: tuple[Rule, ...] = (
    own_rule(
        "setting",
        NAMES,
        rf"(?i){NAME}[*_]{{0,2}}{BLANKS}(?:[=:]|:=)[*_]{{0,2}}{BLANKS}"
        r"([^\s'\"<>`]{5,}[^\s'\"<>`.,;:()\[\]{}|])[.,;:()\[\]{}|]{0,5}(?:\s|\z)",
        *SAMPLE,
        *WORDS,
        *_CODE,
    ),
    own_rule(
        "quoted setting",
        NAMES,
        rf"(?i){NAME}\\?['\"`]?\]?{BLANKS}(?:=>|:=|[=:,]|={{2,3}}){BLANKS}{QUOTED}",
        *SAMPLE,
        *WORDS,
        PATH_OR_PAIR,
        NO_VALUE,
    ),
    own_rule(
        "block of YAML",
        NAMES,
        rf"(?i){NAME}['\"]?:{BLANKS}[|>][+\d-]{{0,2}}[ \t]*\r?\n[ \t]+([^\s<>`]{{6,}})[ \t]*(?:\r?\n|\z)",
        *SAMPLE,
        *WORDS,
        *_CODE,
    ),
    own_rule(
        "element",
        "password> passwd> passphrase> secret> token> apikey> api-key> api_key>",
        r"(?i)<[\w.:-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key)>[ \t]{0,5}([^\s<>]{4,})"
        r"[ \t]{0,5}</",
        *SAMPLE,
        r"(?i)^(?:secret|token|passwo?r?d\d*|test\d*|admin\d*|root|string|null|true|false)$",
    ),
    own_rule(
        "password with signs in an address",
        "://",
        r"[a-zA-Z]://[^\s:/?#@'\"<>`]{0,100}:([^\s/?#@'\"<>`]{1,100}[/?#@][^\s'\"<>`]{3,200})@[\w\[]",
        *SAMPLE,
        r"://",
        r"^[0-9]{1,5}(?:[/?#,]|$)",
    ),
    own_rule(
        "signed address",
        "sig= signature= security-token=",
        r"(?i)(?:[?&;]|&amp;)(?:sig|(?:x-(?:amz|goog)-)?signature|x-amz-security-token)=([a-z0-9%+/=_.~-]{20,})",
        *SAMPLE,
    ),
    own_rule(
        "key in an address",
        "key= token= secret= password= passwd= pwd= auth= sid=",
        r"(?i)(?:[?&]|&amp;)(?:[\w-]{0,20}(?:api_?key|subscription-key|token|secret|password|passwd|pwd)|key|auth|sid)"
        r"=([^\s&#'\"<>`\\)\]},;|*]{8,})",
        *SAMPLE,
        *WORDS,
    ),
    own_rule(
        "webhook",
        "webhooks/ hooks.zapier.com maker.ifttt.com /bot/v2/hook/",
        r"(?i)\b(?:discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{5,30}/([\w-]{20,200})"
        r"|hooks\.zapier\.com/hooks/catch/(\d{3,12}/[a-z0-9]{5,20})|maker\.ifttt\.com/[\w/.-]{1,100}/with/key/([\w-]{15,60})"
        r"|(?:feishu|larksuite)\.c\w{1,2}/open-apis/bot/v2/hook/([a-f0-9-]{30,40}))",
    ),
    own_rule(
        "option of curl",
        "curl",
        r"\bcurl\b(?:[^\n\\]|\\[^\n]|\\\r?\n){0,400}?[ \t](?:-[a-zA-Z]{0,6}[uU]|--(?:proxy-)?user)[ \t=]{0,3}"
        r"(?:\"[^\s:\"]{0,60}:([^\"\n]{3,200})\"|'[^\s:']{0,60}:([^'\n]{3,200})'|[^\s:'\"]{1,60}:([^\s'\"`]{3,200}))",
        *SAMPLE,
        r"(?i)^(?:pass(?:word|wd)?\d{0,3}|test|pwd|secret|token|x+)$",
    ),
    own_rule(
        "option of a command",
        "mysql mariadb sshpass login mongo redis-cli ldap sqlcmd",
        r"\b(?:(?:mysql|mariadb)\w{0,10}[ \t](?:[^\n]{0,200}?[ \t])?-p|sshpass[ \t]{1,3}-p[ \t]{0,3}"
        r"|(?:login|mongo\w{0,8})[ \t][^\n]{0,200}?[ \t]-p[ \t]{1,3}|redis-cli[ \t](?:[^\n]{0,200}?[ \t])?-a[ \t]{0,3}"
        r"|ldap\w{3,10}[ \t](?:[^\n]{0,200}?[ \t])?-w[ \t]{0,3}|sqlcmd[ \t](?:[^\n]{0,200}?[ \t])?-P[ \t]{0,3})"
        r"(?:\"([^\"\n]{4,200})\"|'([^'\n]{4,200})'|([^\s'\"`|;&]{4,200}))",
        *SAMPLE,
        r"^(?:-|[0-9]{1,5}$|[0-9]{1,5}:[0-9]{1,5})",
    ),
    own_rule(
        "password option",
        "--password --passwd --pass --http-password --token --secret --api-key",
        r"(?i)--(?:\w{1,20}-)?(?:passw(?:or)?d|pass|token|secret|api-?key)[ \t=]{1,3}(?:\"([^\"\n]{6,200})\""
        r"|'([^'\n]{6,200})'|([^\s'\"`|;&,)\]]{6,}))",
        *SAMPLE,
        *WORDS,
        *_CODE,
    ),
    own_rule(
        "cookie",
        "cookie",
        r"(?i)(?:\A|[^a-z-])cookie(?:['\"]?\s{0,3}[=,]\s{0,3}['\"]?|['\"]?\s{0,3}:\s{0,3}['\"]?(?:[^\n]{0,400}?; ?)??)"
        r"(?:[\w.-]+=[^\s;'\"]{0,9}; ?)*[\w.-]+="
        r"([^\s;,'\"\\`<>(){}\[\]$]{10,}(?:; ?[\w.-]+=[^\s;,'\"\\`<>(){}\[\]$]+)*)",
        *SAMPLE,
        *WORDS,
        _CODE[0],
    ),
    own_rule(
        "cookie that is set",
        "set-cookie setcookie",
        r"(?i)\bset-?cookie['\"]?\s{0,3}[:=,(]\s{0,3}['\"]?[\w.-]{1,100}=([^\s;,'\"\\`<>(){}\[\]$]{10,})",
        *SAMPLE,
        *WORDS,
        _CODE[0],
    ),
    own_rule(
        "netrc",
        "machine login",
        r"\b(?:machine\s{1,10}\S{1,200}\s{1,10}(?:(?:login|account)\s{1,10}\S{1,200}\s{1,10}){0,2}"
        r"|default\s{1,10}login\s{1,10}\S{1,200}\s{1,10})password\s{1,10}([^\s\\]{3,200})",
        *SAMPLE,
    ),
    own_rule(
        "password hash",
        "$apr1$ $1$ $2$ $2a$ $2b$ $2x$ $2y$ $5$ $6$ $7$ $y$ $gy$ $argon2 {sha {ssha {smd5 :::",
        r"\$(?:apr1|1|5|6)\$(?:rounds=\d{1,9}\$)?([A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{22,86})"
        r"|\$2[abxy]?\$\d\d\$([A-Za-z0-9./]{53})|\$(?:y|7|gy)\$([A-Za-z0-9./$]{30,200})"
        r"|\$argon2(?:id|i|d)\$([A-Za-z0-9+/$=,]{30,300})|\{(?i:s?sha(?:256|512)?|smd5)\}([A-Za-z0-9+/]{20,200}={0,2})"
        r"|\b([0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::",
    ),
)


_QUOTED = rf"(?:@|[bBrRuUfLN]{{1,2}})?{QUOTED}"
_PLAIN = r"['\"]?([^\s'\"\\`<>|;&]{6,})"
_COMMENT = rf"(?:/\*[^*\n]{{0,100}}\*/{BLANKS})?"
_CALL = (
    r"(?:[\w.:\[\]]{0,40}[({\[]\s{0,12}(?:(?://|#)[^\n'\"`]{0,100}\n\s{0,40})?"
    r"(?:\w{1,20}[ \t]?[=:][ \t]?)?)?"
)
"""Such as `SecretStr(`, `Field(default=`, `[]byte(` and the bracket of a list."""
_TYPE = (
    rf"(?:{BLANKS}:{BLANKS}"
    r"[&*\w.<>\[\]?|]{1,40}|[ \t]{1,3}As[ \t]{1,3}String"
    r"|[ \t]{0,3}\{ ?get; ?(?:set|init); ?\})"
)
_NOT = (*SAMPLE, *WORDS, PATH_OR_PAIR, NO_VALUE, r"^[.:#%,@^/]|[(){}\[\]]$")

CODE_RULES: tuple[Rule, ...] = (
    own_rule(
        "assigned value",
        NAMES,
        rf"(?i){NAME}(?:\[\])?['\"\])]{{0,2}}{_TYPE}?{BLANKS}(?:=|:|:=|=>|<-|\|\|=|\?\?="
        rf"|\?=){BLANKS}{_COMMENT}{_CALL}{_QUOTED}",
        *_NOT,
    ),
    own_rule(
        "value of a call",
        NAMES,
        rf"(?i){NAME}(?:\(\s{{0,12}}|\{{\s{{0,3}}|[ \t]{{1,3}}|['\"]\)[ \t]{{0,3}}\{{[ \t]{{0,3}}){_QUOTED}",
        *_NOT,
    ),
    own_rule(
        "value beside a name",
        NAMES,
        rf"(?i){NAME}['\"]?\s{{0,3}}(?:,\s{{0,20}}|\n\s{{0,40}}|[ \t])?['\"]?"
        rf"(?:default_?)?value['\"]?\s{{0,3}}[:=]\s{{0,3}}{_PLAIN}",
        *_NOT,
    ),
    own_rule(
        "user and password",
        "auth credential connect pdo(",
        r"(?i)(?:basic_?auth|credentials?|connect(?:ion)?|new pdo|\bauth)[ \t]{0,3}[=:]?[ \t]{0,3}\((?:"
        r"[^\n()'\"]{0,60},[ \t]{0,3}"
        rf"|['\"][^'\"\n]{{0,100}}['\"],[ \t]{{0,3}})?['\"][^\s'\"]{{1,60}}['\"],[ \t]{{0,3}}{QUOTED}",
        *_NOT,
    ),
    own_rule(
        "variable of a command",
        "env setx setenv set",
        rf"(?:\A|\s)(?i:ENV|setx|setenv|set[ \t]-\w{{1,3}})[ \t]{{1,3}}\w{{0,60}}(?i:{NAME})"
        rf"[ \t]{{1,3}}{_PLAIN}",
        *_NOT,
    ),
    own_rule(
        "token in a header",
        "bearer basic",
        r"(?i)(?:['\"`]|authorization['\"]?[ \t]{1,3}['\"]?)(?:bearer|basic)[ \t]([a-z0-9+/=._~-]{16,1000})['\"`;]",
        r"(?i)^(?:your|my)?[a-z_.-]+$",
    ),
)
