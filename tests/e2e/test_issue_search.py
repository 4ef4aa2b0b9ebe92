"""The web search without a key, from the event to the comment: what it finds, and what leaves."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testing.runs.in_process_job import InProcessJob, set_up_job

TRACE = """Checkout of an order for Ann fails, see https://intra.acme.example/orders/7.

```
Traceback (most recent call last):
  File "shop/basket.py", line 6, in total
    return sum(prices[name] for name in self.names)
  File "/home/ann/.venv/lib/python3.11/site-packages/numpy/core/fromnumeric.py", line 57, in _wrapfunc
    return bound(*args, **kwds)
ValueError: operands could not be broadcast together with shapes (2,) (3,)
```
"""
FOUND: dict[str, Any] = {
    "repositories": [{"full_name": "numpy/numpy", "private": False, "stargazers_count": 30_000}],
    "issues": [
        {
            "number": 1234,
            "title": "Operands could not be broadcast together with shapes",
            "html_url": "https://github.com/numpy/numpy/issues/1234",
            "state": "closed",
            "milestone": {"title": "1.26.1"},
            "body": "ValueError: operands could not be broadcast together with shapes (1,) (4,)",
        }
    ],
}
SENT = [
    ("repositories", "numpy in:name language:Python"),
    ("issues", "repo:numpy/numpy is:public is:issue ValueError operands could not be broadcast together with"),
]


@pytest.fixture
def job(tmp_path: Path) -> Iterator[InProcessJob]:
    with set_up_job(tmp_path) as job:
        job.job.inputs |= {"engine": "rules", "comment": "always"}
        (job.job.workspace / "requirements.txt").write_text("numpy==1.26.0\n", encoding="utf-8")
        job.job.commit()
        job.github.add_issue(title="Total fails", body=TRACE)
        job.github.found = FOUND
        yield job


def write_event(job: InProcessJob, **repository: Any) -> None:
    job.job.write_event()
    path = next(job.job.folder.rglob("event.json"))
    payload = json.loads(path.read_text())
    payload["repository"] |= repository
    path.write_text(json.dumps(payload))


def test_the_issue_of_the_package_is_a_source_of_the_comment(job: InProcessJob):
    write_event(job, private=False)
    done = job.run()
    assert done.exit_code == 0, done.log
    assert job.github.searches == SENT
    assert "](https://redirect.github.com/numpy/numpy/issues/1234)" in job.comment
    assert "(closed, in 1.26.1): Operands could not be broadcast" in job.comment.replace("\\", "")
    assert "the error is raised by numpy, and this issue has the same message" in job.comment


@pytest.mark.parametrize(
    ("inputs", "repository", "is_sent"),
    [
        ({}, {"private": True}, False),
        ({}, {"private": None}, False),
        ({"web_search": "github"}, {"private": True}, True),
        ({"web_search": "off"}, {"private": False}, False),
    ],
)
def test_words_of_a_private_repository_leave_only_if_told_so(
    job: InProcessJob, inputs: dict[str, str], repository: dict[str, Any], is_sent: bool
):
    write_event(job, **repository)
    done = job.run(**inputs)
    assert done.exit_code == 0, done.log
    assert job.github.searches == (SENT if is_sent else [])
    assert job.report["feature_flags"]["web_search"] is is_sent
