"""The whole action on a security report: it is redirected, and nothing of it is repeated, by rules and with a model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from testing.runs.in_process_job import InProcessJob, set_up_job

TITLE = "KeyError lets an attacker read the basket of pear sellers: path traversal"
BODY = """An attacker can send `../../etc/passwd` as the name of a basket, see `Basket.total`.

```
Traceback (most recent call last):
  File "shop/basket.py", line 6, in total
    return sum(prices[name] for name in self.names)
KeyError: 'pear'
```
"""
SENTENCE = "This may be a security report. Please don't add details here.\n\nMaintainers: "
SKILL = "---\ndescription: Pears\nwhen: {words: [basket]}\n---\nAsk which pear it is.\n"
WORDS = ("pear", "Pears", "basket", "KeyError", "etc/passwd", "attacker", "traversal", "CRITICAL", "HIGH", "Traceback")


@pytest.fixture
def job(tmp_path: Path) -> Iterator[InProcessJob]:
    with set_up_job(tmp_path) as job:
        job.github.add_issue(title=TITLE, body=BODY)
        job.github.labels = ["bug", "type: security", "needs-review"]
        job.job.inputs |= {"comment": "auto", "tavily-api-key": "tvly-" + "z3" * 16}
        job.job.write_event()
        yield job


def commit_policy(job: InProcessJob, path: str) -> str:
    """Returns the id of the new commit."""
    policy = {path: "Write to security@example.com.\n"}
    return commit(job.job.workspace, policy | {".github/triage/skills/pears.md": SKILL})


@pytest.mark.parametrize(
    ("engine", "path"), [("rules", "SECURITY.md"), ("model", ".github/SECURITY.md"), ("rules", "docs/SECURITY.md")]
)
def test_it_is_redirected_and_nothing_is_repeated(job: InProcessJob, engine: str, path: str):
    commit = commit_policy(job, path)
    done = job.run(engine=engine, labels="apply")
    assert done.exit_code == 0, done.log
    first_line, _, visible = job.comment.partition("\n")
    sentence, _, footer = visible.strip().rpartition("\n\n")
    link = f"[`{path}`](https://github.com/octo/shop/blob/{commit}/{path})"
    assert sentence == f"{SENTENCE}see {link}, and consider moving it to a private advisory."
    assert footer.startswith("<sub>Bug Triage v")
    assert len(footer.splitlines()) == 1
    assert sentence in done.summary
    published = [first_line, visible, done.summary, done.log, str(done.outputs), str(job.report)]
    assert [word for text in published for word in WORDS if word in text] == []
    assert (done.outputs["severity"], done.outputs["suspect-files"]) == ("", "[]")
    assert (job.report["speaks"], job.report["comment"]) == ("security", visible.strip())
    assert [label["name"] for label in job.github.issues[7]["labels"]] == ["type: security"]
    assert "search" not in job.requests, "no word of it goes to the web"


def test_without_a_policy_there_is_no_link_and_always_changes_nothing(job: InProcessJob):
    job.run(engine="rules", comment="always")
    assert f"{SENTENCE}consider moving it to a private advisory." in job.comment
    assert "](" not in job.comment.partition("<sub>")[0]
