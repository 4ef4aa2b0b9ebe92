"""The image with a real small model, which is worse than the rules: what they found is said all the same."""

import json

import pytest

from testing.runs import sample_bug
from testing.runs.job import Job
from testing.servers.github_api import serve_issue
from testing.servers.small_model import NoSmallModel, serve_small_model
from tests.e2e.test_container import ENGINE, IMAGE

pytestmark = pytest.mark.container

MAX_TOKENS = 40_000


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_small_model_takes_nothing_from_the_comment(tmp_path, attempt):
    with serve_issue(sample_bug.TITLE, sample_bug.BODY) as github:
        job = Job(tmp_path, github)
        job.inputs |= {"engine": "model", "timeout-seconds": "240", "max-tokens": str(MAX_TOKENS)}
        job.inputs |= dict.fromkeys(("model", "fast-model", "fallback-model"), "small")
        sample_bug.commit_plain_checkout(job.workspace)
        try:
            with serve_small_model() as url:
                job.inputs["model-base-url"] = url
                done = job.run_in_container(ENGINE, IMAGE, seconds=300)
        except NoSmallModel as error:
            pytest.skip(f"attempt {attempt}: no small model here ({error})")
        assert done.exit_code == 0, done.log
        assert json.loads(done.outputs["suspect-files"])[0] == "shop/basket.py"
        assert 0 < int(done.outputs["tokens"]) <= MAX_TOKENS
        (comment,) = github.comments
        assert "/shop/basket.py#L" in comment["body"]
        assert "⚠" not in comment["body"]
