"""The whole action with its default: it comments when it has something to say."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.runs.in_process_job import InProcessJob, set_up_job
from triage.say.comment import NOTHING_TO_SAY

NOTHING_TO_FIND = """The total is one cent too high for some of our customers when they pay in Swiss francs.

To reproduce: put three items at 3.35 into the shopping cart with version 2.4.1, choose francs, and look at the sum on the
last page. It shows 10.06. I expected 10.05, as in the list of prices.
"""


@pytest.fixture
def job(tmp_path: Path) -> Iterator[InProcessJob]:
    with set_up_job(tmp_path) as job:
        del job.job.inputs["comment"]  # the input as the runner gives it if nobody sets it
        job.job.inputs["engine"] = "rules"
        yield job


@pytest.mark.parametrize("mode", ["", "always", "never"])
def test_an_issue_that_leads_nowhere_gets_none_unless_told(job: InProcessJob, mode: str):
    job.github.title, job.github.body = "Total is wrong for francs", NOTHING_TO_FIND
    job.job.write_event()
    done = job.run(comment=mode)
    assert done.exit_code == 0, done.log
    is_written = mode == "always"
    assert bool(job.comment) is is_written
    assert done.log.count(NOTHING_TO_SAY) == (mode == "")
    assert job.report["speaks"] == ("always" if is_written else None)
    assert (job.report["comment"] is not None) is is_written
    assert done.outputs["comment-url"].endswith("issuecomment-1") is is_written
    assert ("No comment was written" in done.summary) is (mode == "")
    assert "shop/basket.py" in done.summary
    posts = [line for line in job.github.request_lines if line.startswith(("POST", "PATCH")) and "comments" in line]
    assert len(posts) == is_written


def test_another_word_is_refused_before_anything_is_read(job: InProcessJob):
    done = job.run(comment="sometimes")
    assert (done.exit_code, done.outputs["status"]) == (1, "failed")
    assert "comment: 'sometimes' is not one of auto, always, never" in done.log
    assert job.github.request_lines == []
