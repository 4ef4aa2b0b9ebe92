"""Secrets that are known by how programs, settings and commands give a value to a name.

As in `context_rules`, the value must not look like a word, a placeholder or an expression.
"""

from triage.safety.secrets.context_rules import BLANKS, NAME, NAMES, NO_VALUE, PATH_OR_PAIR, QUOTED, SAMPLE, WORDS
from triage.safety.secrets.rule import Rule, own_rule

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
        "values of two names",
        NAMES,
        rf"(?i)(?:{NAME},{BLANKS}[\w.$]{{1,60}}{BLANKS}:?={BLANKS}"
        rf"|[\w.$]{{1,60}},{BLANKS}[\w.$]{{0,60}}{NAME}{BLANKS}:?={BLANKS}['\"][^'\"\n]{{0,100}}['\"],{BLANKS}){QUOTED}",
        *_NOT,
    ),
    own_rule(
        "value of a call",
        NAMES,
        rf"(?i){NAME}(?:\(\s{{0,12}}|\{{\s{{0,3}}|[ \t]{{1,3}}|['\"]\)[ \t]{{0,3}}\{{[ \t]{{0,3}}){_QUOTED}",
        *_NOT,
    ),
    own_rule(
        "value in place of another",
        NAMES,
        rf"(?i){NAME}['\"]?{BLANKS}[:=][^\n'\"`]{{0,60}}(?:['\"][^'\"\n]{{0,40}}['\"][^\n'\"`]{{0,20}})?"
        rf"(?:\|\||\?\?|\?:|\bor\b|default\(){BLANKS}{_QUOTED}",
        *_NOT,
    ),
    own_rule(
        "default of a variable",
        NAMES,
        rf"(?i)[$]\{{[\w.]{{0,60}}{NAME}:[-=?]?([^\s'\"\\`{{}}]{{6,}})\}}",
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
        "default of Terraform",
        "default",
        rf"(?i)\bvariable[ \t]{{1,3}}\"[\w-]{{0,60}}{NAME}\"[ \t]{{0,3}}\{{[^{{}}]{{0,300}}?\bdefault"
        rf"{BLANKS}={BLANKS}{QUOTED}",
        *_NOT,
    ),
    own_rule(
        "element with a name",
        "key= name=",
        rf"(?i)\b(?:key|name)=['\"][\w.:-]{{0,60}}{NAME}['\"][^<>\n]{{0,60}}>[ \t]{{0,3}}("
        rf"[^\s<>]{{6,}})[ \t]{{0,3}}</",
        *_NOT,
    ),
    own_rule(
        "pair in quotes",
        NAMES,
        rf"(?i)['\"][\w.-]{{0,60}}{NAME}=([^\s'\"\\`;&,{{}}]{{6,}})['\";]",
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
        "SQL",
        "identified password",
        rf"(?i)\b(?:identified[ \t]{{1,3}}(?:with[ \t]{{1,3}}\S{{1,40}}[ \t]{{1,3}})?(?:by|as)[ \t]{{1,3}}"
        rf"(?:password[ \t]{{1,3}})?"
        rf"|set[ \t]{{1,3}}password[ \t]{{1,3}}for[^=\n]{{1,80}}=[ \t]{{0,3}}(?:password\()?){_PLAIN}",
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
        "directive",
        "requirepass masterauth bindpw passphrase storepass keypass rocommunity rwcommunity",
        rf"(?i)(?:(?:\A|\s)(?:requirepass|masterauth|bindpw|sslpassphrase|r[ow]community)|[ \t]--?"
        rf"(?:storepass|keypass|passphrase))"
        rf"[ \t=]{{1,3}}{_PLAIN}",
        *_NOT,
    ),
    own_rule(
        "token in a header",
        "bearer basic",
        r"(?i)(?:['\"`]|authorization['\"]?[ \t]{1,3}['\"]?)(?:bearer|basic)[ \t]([a-z0-9+/=._~-]{16,1000})['\"`;]",
        r"(?i)^(?:your|my)?[a-z_.-]+$",
    ),
    own_rule(
        "secure string",
        "convertto-securestring",
        rf"(?i)convertto-securestring[ \t]{{1,3}}(?:-string[ \t]{{1,3}})?{_QUOTED}",
        *_NOT,
    ),
    own_rule(
        "data source",
        "@tcp( @unix( oracle:thin:",
        r"(?:['\"`][\w.-]{1,60}:([^\s'\"`@]{6,})@(?:tcp|unix)\(|oracle:thin:[\w.-]{1,60}/([^\s'\"`@/]{6,})@)",
        *_NOT,
    ),
    own_rule(
        "archive or certificate with a password",
        "zip 7z xfreerdp signtool smbclient htpasswd",
        rf"\b(?:zip[ \t](?:[^\n]{{0,80}}?[ \t])?-P[ \t]{{1,3}}|7za?[ \t][^\n]{{0,80}}?[ \t]-p|xfreerdp[ \t]"
        rf"[^\n]{{0,120}}?[ \t]/p:"
        rf"|htpasswd[ \t]{{1,3}}(?:-\w{{1,9}}[ \t]{{1,3}}){{1,5}}\S{{1,80}}[ \t]{{1,3}}\S{{1,80}}[ \t]{{1,3}}"
        rf"|signtool[ \t][^\n]{{0,120}}?[ \t]/p[ \t]|smbclient[ \t][^\n]{{0,120}}?[ \t]-U[ \t]{{0,3}}"
        rf"[^\s%]{{1,60}}%){_PLAIN}",
        *_NOT,
    ),
)
