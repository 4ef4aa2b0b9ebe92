"""How bad it is, and which reports do not belong in public."""

from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.read.kind.issue_kind import read_kind
from triage.read.kind.severity_signs import find_severity, find_severity_signs
from triage.read.read_issue import read_issue

REPORTS = [
    ("Path traversal in serve() lets you read any file", "GET /../../etc/passwd returns the file."),
    ("XSS in search box", "Typing <script>alert(1)</script> into the search runs it."),
    ("SQL injection in login form", "The name field goes straight into the query."),
    (
        "Possible RCE via pickle in the cache loader",
        "load_cache calls pickle.loads on whatever is in the shared directory.",
    ),
    ("Security: tokens are logged in plaintext", "With debug on, the bearer token is in the log."),
    (
        "Security: the session id can be guessed",
        "As in [this one](https://nvd.nist.gov/vuln/detail/CVE-2020-1) anybody gets in with `' OR 1=1 --`.",
    ),
    ("This is affected by CVE-2023-44487", "HTTP/2 rapid reset brings the server down."),
    (
        "Remote code execution through crafted YAML",
        "yaml.load is called without a safe loader, so a crafted file can run commands.",
    ),
    (
        "Vulnerability in file upload",
        "I found a vulnerability in the upload. An attacker can upload a .php file and run it.",
    ),
    ("Login works with any password", "If you send `' OR 1=1 --` as user name you get in. Anyone can log in as admin."),
    (
        "Server returns files outside of the root",
        "curl --path-as-is http://localhost:8000/../../../etc/passwd\n\ngives me the password file. Anyone can read everything.",
    ),
    ("Open redirect in /login?next=", "next=//evil.example goes there"),
    (
        "ReDoS in the email validator",
        "A long string of a's takes minutes. An attacker can hang the server with one request.",
    ),
    (
        "Prototype pollution in merge()",
        'merge({}, JSON.parse(\'{"__proto__":{"polluted":1}}\')) pollutes Object.prototype. An attacker can inject properties.',
    ),
    (
        "heap-buffer-overflow in jv_parse",
        "A crafted file makes jq read out of bounds. ASAN output below. An attacker could use this.",
    ),
    (
        "API returns other users' data",
        "Change the id in the URL and you see every other user's invoices. No permission check. This is a serious security issue.",
    ),
    ("存在SQL注入漏洞", "登录接口的用户名参数存在SQL注入漏洞"),
    ("Security issue", "Hello, I found a security issue in your product, how can I report it?"),
    ("Please report vulnerability", "I found an XXE in the importer"),
    ("Passwords are stored in plain text", "The database column password has them as they were typed."),
    (
        "eval() on user input in the template filter",
        "`{{ x | calc }}` passes the text to eval. Any user can run arbitrary code on the server with __import__('os').system.",
    ),
    ("Login can be skipped", "This is a vulnerability: an auth bypass, anybody can log in as admin."),
    ("Reset link leaks the token", "The Referer header has it."),
    (
        "Overflow in total()",
        "```\n==1==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x7f\nWRITE of size 2\n```",
    ),
    (
        "The parser crashes",
        "Found by fuzzing. It crashes, and this may lead to potential security vulnerabilities.",
    ),
]
OTHERS = [
    (
        "Add secure default SECURE_REFERRER_POLICY / Referrer-policy header",
        "The SecurityMiddleware should set the header.",
    ),
    ("CSRF token missing after login", "After logging in, the form fails with 403: CSRF verification failed."),
    ("escape filter is not XSS-safe for lazy strings?", "TypeError: ... lazy strings fail in `escape`."),
    ("Bump lodash to fix CVE-2021-23337", "npm audit says so"),
    ("Memory leak in the token cache", "RSS grows by 10 MB an hour."),
    ("Directory traversal is slow with many files", "os.walk takes 3 minutes"),
    ("Integer overflow when running tf.clip_by_value", "see colab"),
    ("Buffer overflow warning in the build log", "gcc 13 prints -Wstringop-overflow for util.c"),
    ("How do I configure security for the REST endpoints?", "I use Spring Security and get 401."),
    ("SQL injection detection doesn't use threads", "It waits for each call."),
    ("Allow arbitrary commands in pre-commit hooks", "It would be nice to run arbitrary commands."),
    ("403 Forbidden when bypassing the proxy", "NO_PROXY is ignored"),
    ("Bandit false positive for B608 SQL injection", "The rule fires on constant strings."),
    ("Extension is flagged as a security risk by Windows Defender", "It says the exe is unsafe."),
    ("Relative import ../../utils fails in the bundler", "import x from '../../utils' gives Module not found"),
    (
        "KeyError in permission check for anonymous users",
        "Traceback ... anonymous users can not see the page, KeyError: 'perm'",
    ),
    ("Template injection of variables fails for nested keys", "Variables are not injected"),
    ("Race condition in use of cache after free()", "Segfault sometimes"),
    (
        "Feature request: protect the login against CSRF",
        "It would be nice if forms had a token, please add an option for it.",
    ),
    (
        "Propagation design goals",
        "A goal is to be robust. DoS/vulnerabilities counter-measures are another. An attacker should not run a DoS.",
    ),
    ("Harden the loader against zip bombs", "An attacker could fill the disk with a zip bomb."),
    ("Add mitigation for disk fill", "Log lines are not limited, so that an attacker can fill the disk."),
    ("Null pointer in parse", "```\n==1==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000\n```"),
    ("SSRF guard blocks my internal webhook", "It is on our own network."),
    ("Remote code execution node does not run", "The node stays grey."),
    ("SQL injection tutorial link broken", "404."),
    ("Scan of the image", "trivy lists CVE-2024-1 in libxml2: please update the dependency."),
    (
        "security: a vulnerability is reported in engine@6.4.1",
        "One of the [dependencies](https://github.com/advisories/GHSA-q9mw-68c2-j6m5) has it.",
    ),
    ("Vulnerability in a package", "```\n# npm audit report\n\nengine  <6.4.1\nSeverity: high\n```"),
    ("It is not defined", "- If you found a security bug, do not report it here, but send an e-mail instead."),
    ("Crash in parse", "The parser crashes on empty files. This is not a security issue, only annoying."),
]


def is_recognized(title: str, body: str, *labels: str) -> bool:
    return read_kind(read_issue(Issue(title=title, body=body)), labels).security


@each_row(("title", "body"), REPORTS)
def test_a_report_of_a_vulnerability(title: str, body: str) -> None:
    assert is_recognized(title, body)


@each_row(("title", "body"), OTHERS)
def test_words_of_security_alone_are_no_report(title: str, body: str) -> None:
    assert not is_recognized(title, body)


def test_a_label_says_it() -> None:
    assert is_recognized("Login", "It is odd.", "type: security")
    for label in ("bug", "security-scanner", "security: docs", "vulnerability-db"):
        assert not is_recognized("Login", "It is odd.", label)


def signs_in(title: str, body: str = "") -> list[tuple[str, str, str]]:
    parsed = read_issue(Issue(title=title, body=body))
    return [(sign.kind, sign.severity, sign.quote.text) for sign in find_severity_signs(parsed)]


@each_row(
    ("text", "kind", "severity"),
    [
        ("There is an XSS in the search field", "security", "CRITICAL"),
        ("Saving loses all my changes", "data_loss", "CRITICAL"),
        ("The database is corrupted after a restart", "data_loss", "CRITICAL"),
        ("The editor crashes on paste", "crash", "HIGH"),
        ("Segmentation fault in total()", "crash", "HIGH"),
    ],
)
def test_a_sign(text: str, kind: str, severity: str) -> None:
    assert signs_in(text) == [(kind, severity, text)]


@each_row(
    "text",
    [
        "Can't start the debugger from the menu",
        "The cache deletes the file when it is full",
        "If you delete all of the entries, it works",
        "Editing of existing entries is gone",
        "It does not crash, and it never hangs",
        "It should not crash here",
        "total() crashes with a TypeError",
        "To help us fix crashes, turn on the log",
        "Does it crash for others?",
        'The log says "data corruption"',
        "Your SQLite is old, is that a security hole?",
        "",
    ],
)
def test_stray_words_are_no_sign(text: str) -> None:
    assert signs_in("Total is off", text) == []


def test_an_exception_alone_does_not_say_how_bad_it_is() -> None:
    body = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nKeyError: 1'
    assert signs_in("Total is off", body) == []


def test_the_end_of_a_process_in_its_output() -> None:
    body = "```\nstarting\nAborted (core dumped)\n```"
    assert signs_in("Total is off", body) == [("crash", "HIGH", "Aborted (core dumped)")]


def test_the_worst_comes_first() -> None:
    parsed = read_issue(Issue(title="Odd", body="Today the app crashes when I save. It deletes all my files."))
    assert [sign.kind for sign in find_severity_signs(parsed)] == ["data_loss", "crash"]
    worst = find_severity(parsed)
    assert worst is not None
    assert worst.quote.text == "It deletes all my files."
