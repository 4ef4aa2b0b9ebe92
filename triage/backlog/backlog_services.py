"""Opens the clients of a backlog: its list, its table, and one index for many triages.

It imports them where it opens them, as `app.wiring` does.
"""

import math
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from triage.app import wiring
from triage.app.wiring import RunSetup
from triage.backlog.backlog import BacklogPage, BacklogPlan, Caps, Cursor
from triage.backlog.backlog_files import BacklogFiles
from triage.backlog.batch_progress import measure_progress
from triage.backlog.list_backlog import ListServices
from triage.backlog.run_batch import BatchJob
from triage.jobs.known_past_issues import KnownPastIssues
from triage.ports import Services

if TYPE_CHECKING:
    from triage.backlog.backlog_client import BacklogClient
    from triage.code.codebase import GitCodebase

FOLDER = Path(".triage", "backlog")
"""Of the action, below the workspace."""
LIST_WAIT_SECONDS = 300.0
"""All waits for GitHub's rate limits together, while a list is read."""
VECTORS_SHARE = 0.2
"""Of what a batch may spend, for the vectors of the index, if a model makes them."""


def open_list_services(setup: RunSetup, files: BacklogFiles) -> ListServices:
    """Return what lists the issues of the setup's repository. Raises BadInput as `wiring.build_github`."""
    github, client = wiring.build_github(setup), _open_client(setup)

    def iterate(query: str, cursor: Cursor | None) -> Iterator[BacklogPage]:
        for page in client.iterate(query, cursor):
            yield setup.redactor.redact_model("issue", page)

    return ListServices(
        iterate=iterate,
        files=files,
        past_issues=wiring.open_past_issues(setup),
        fetch_labels=github.list_labels,
        config=setup.config,
        progress=setup.progress,
        now=wiring.utc_now,
    )


def open_table_issue(setup: RunSetup) -> Callable[[str, str], tuple[int, str]]:
    """Return what writes the issue that shows the table. Raises BadInput as `wiring.build_github`."""
    client, redact = _open_client(setup), setup.redactor.redactor_for("issue with the table")
    return lambda title, body: client.write_table_issue(title, redact(body))


def _open_client(setup: RunSetup) -> "BacklogClient":
    from triage.backlog.backlog_client import BacklogClient

    environment = setup.environment
    # Its questions are POST requests, before which PyGithub would wait as before writes.
    return BacklogClient(
        setup.settings.github_token.get_secret_value(),
        setup.repository,
        environment.api_url,
        seconds_between_writes=0.0,
        max_wait_seconds=LIST_WAIT_SECONDS,
        network=environment.network,
    )


def open_batch(
    setup: RunSetup, files: BacklogFiles, batch: int, plan: BacklogPlan, seconds_left: Callable[[], float]
) -> BatchJob:
    """Return what triages a batch, with the commit indexed. Asks GitHub nothing. Takes seconds: call it in a thread."""
    left = measure_progress(plan, batch, files.read_records(batch)).left
    shared = _share_for_vectors(setup, left)
    codebase = _index(setup, shared)
    past = KnownPastIssues(files.read_past())

    def open_services(caps: Caps, seconds: float) -> Services:
        own = replace(_limit(setup, caps, seconds), started=time.monotonic())
        # A copy: a thread of a triage that ran out of time may still add to its own.
        return replace(wiring.open_services(own, lambda *_: replace(codebase)), past_issues=past)

    return BatchJob(
        plan=plan,
        batch=batch,
        files=files,
        limits=setup.settings.limits(),
        shared=shared,
        open_services=open_services,
        redact=partial(setup.redactor.redact_model, "report"),
        progress=setup.progress,
        seconds_left=seconds_left,
    )


def _index(setup: RunSetup, caps: Caps) -> "GitCodebase":
    embeddings = None
    if caps.tokens:
        _, embeddings = wiring.open_model(_limit(setup, caps, math.inf), str(uuid.uuid4()), None)
    codebase = replace(wiring.open_checkout(setup, embeddings), index_once=True)
    setup.progress.info(codebase.index().log_line)
    return codebase


def _share_for_vectors(setup: RunSetup, left: Caps) -> Caps:
    if setup.settings.effective_embedding_model == "local":
        return Caps(usd=0, tokens=0)
    return Caps(usd=left.usd * VECTORS_SHARE, tokens=int(left.tokens * VECTORS_SHARE))


def _limit(setup: RunSetup, caps: Caps, seconds: float) -> RunSetup:
    """Return the setup of one triage with these caps; by rules where nothing may be spent."""
    settings = setup.settings
    changes = {
        "max_cost_usd": caps.usd,
        "max_tokens": caps.tokens,
        "memory_issues": 0,  # the list has read them
        "timeout_seconds": min(settings.timeout_seconds, seconds),
    }
    limited = settings.model_copy(update=changes)
    return replace(setup, settings=limited if caps.tokens else limited.with_rules_engine())
