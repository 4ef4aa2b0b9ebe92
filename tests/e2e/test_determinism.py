"""The same issue gives the same prompts in every process."""

import json
from pathlib import Path

from testing.runs.external_services import serve_all
from testing.runs.in_process_job import InProcessJob


def test_two_processes_ask_the_same_questions(tmp_path: Path):
    """Each has its own hash seed, ids and times."""
    asked: list[list[str]] = []
    with serve_all(tmp_path) as (services, job):
        job.inputs |= {"comment": "false"}
        for run in (InProcessJob(job).run, job.run_forked):
            done = run()
            assert done.exit_code == 0, done.log
            asked.append(sorted(json.dumps(body) for body in services.request_bodies))
            services.request_bodies.clear()
    assert len(asked[0]) > 6
    assert asked[0] == asked[1]
