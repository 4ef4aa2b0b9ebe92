"""A job that is killed and started again comments once."""

import os
import re
import signal
from pathlib import Path

import pytest

from testing.runs.external_services import serve_all


@pytest.mark.parametrize("request_name", ["model InvestigatorFinding", "search", "POST comments"])
def test_a_killed_job_that_starts_again_comments_once(request_name: str, tmp_path: Path):
    """It is killed while this request is not answered."""
    with serve_all(tmp_path) as (services, job):
        running = job.start_forked()

        def kill(_: int, what: str) -> None:
            if re.sub(r"/repos/\S*/", "", what) == request_name:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()

        services.on_request = kill
        killed = job.wait(running)
        assert killed.exit_code == -signal.SIGKILL, killed.log
        services.on_request = lambda number, what: None
        done = job.run_forked()
        assert (done.exit_code, done.outputs["status"]) == (0, "complete"), done.log
        assert len(services.comments) == 1
