"""A key that a reporter pasted by accident is in no part of the reading."""

from testing.each_row import each_row
from triage.domain.issue import Issue, IssueComment
from triage.read.read_issue import read_issue_and_thread
from triage.safety.secrets.likely_secrets import LIKELY_SECRET_PLACEHOLDER

TOKEN = "gh" + "p_" + "a1" * 18
LINE = "Ab1+" * 16
KEY = f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{LINE}\n{LINE}\n-----END RSA PRIVATE KEY-----"


@each_row(
    "body",
    [
        f"It fails with {TOKEN}.",
        f"```\n$ curl -H 'X: {TOKEN}'\nValueError: bad {TOKEN}\n```",
        f"# Token {TOKEN}\n\ntext",
        f"[page](https://a.test/?t={TOKEN}) and <https://a.test/{TOKEN}>",
        f"| a |\n|---|\n| {TOKEN} |",
        f"`{TOKEN[:9]}`<!-- x -->{TOKEN[9:]}".replace("`", ""),
        f"{TOKEN[:9]}<b></b>{TOKEN[9:]}",
        f"{TOKEN[:9]}\u200b{TOKEN[9:]}",
        f'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g("{TOKEN}")\nValueError: {TOKEN}',
    ],
)
def test_a_token_is_in_no_field(body: str):
    issue = Issue(
        title=f"Fails with {TOKEN}",
        body=body,
        author="ann",
        thread=[IssueComment(author="ann", body=body), IssueComment(author="bob", body=body)],
    )
    parsed, thread = read_issue_and_thread(issue)
    told = parsed.model_dump_json() + "".join(said.model_dump_json() for said in thread)
    assert TOKEN not in told
    assert LIKELY_SECRET_PLACEHOLDER in parsed.title
    assert LIKELY_SECRET_PLACEHOLDER in parsed.body
    assert LIKELY_SECRET_PLACEHOLDER in thread[0].body


def test_a_key_with_an_empty_line_is_masked_whole():
    parsed, _ = read_issue_and_thread(Issue(title="t", body=f"My key:\n\n{KEY}\n\nThat is all."))
    assert "Ab1" not in parsed.model_dump_json()
    assert "That is all." in parsed.body
