"""Opens the clients of a backlog: its list, and one index for many triages.

It imports them where it opens them, as `app.app` does.
"""

import math
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triage.app.app import App, utc_now
from triage.backlog.backlog import BacklogPlan, Caps
from triage.backlog.backlog_files import BacklogFiles
from triage.backlog.list_backlog import ListServices
from triage.backlog.run_batch import BatchJob, measure_progress
from triage.jobs.run_context import KnownPastIssues
from triage.ports import Services

if TYPE_CHECKING:
    from triage.backlog.backlog_client import BacklogClient
    from triage.code.codebase import GitCodebase

LIST_WAIT_SECONDS = 300.0
"""The longest wait for a rate limit, while a list is read."""
VECTORS_SHARE = 0.2
"""Of what a batch may spend, for the vectors of the index, if a model makes them."""


def open_files(app: App, folder: Path) -> BacklogFiles:
    """Return the files of a backlog in a folder, in which our own secrets are masked."""
    return BacklogFiles(folder, redactor=app.redactor)


def open_list_services(app: App, files: BacklogFiles) -> ListServices:
    """Return what lists the issues of the repository. Raises BadInput as `App.github`."""
    return ListServices(
        iterate=_open_client(app).iterate,
        files=files,
        past_issues=app.open_past_issues(),
        fetch_labels=app.github.list_labels,
        config=app.config,
        progress=app.progress,
        now=utc_now,
    )


def _open_client(app: App) -> "BacklogClient":
    from triage.backlog.backlog_client import BacklogClient

    return app.open_github(BacklogClient, max_wait_seconds=LIST_WAIT_SECONDS)


def open_batch(
    app: App, files: BacklogFiles, batch: int, plan: BacklogPlan, seconds_left: Callable[[], float]
) -> BatchJob:
    """Return what triages a batch, with the commit indexed. Asks GitHub nothing. Takes seconds: call it in a thread."""
    left = measure_progress(plan, batch, files.read_records(batch)).left
    shared = _share_for_vectors(app, left)
    codebase = _index(app, shared)
    past = KnownPastIssues(files.read_past())

    def open_services(caps: Caps, seconds: float) -> Services:
        own = replace(_limit(app, caps, seconds), started=time.monotonic())
        # A copy: a thread of a triage that ran out of time may still add to its own.
        return replace(own.open_services(lambda *_: replace(codebase)), past_issues=past)

    return BatchJob(
        plan=plan,
        batch=batch,
        files=files,
        limits=app.settings.limits(),
        shared=shared,
        open_services=open_services,
        progress=app.progress,
        seconds_left=seconds_left,
    )


def _index(app: App, caps: Caps) -> "GitCodebase":
    embeddings = None
    if caps.tokens:
        _, embeddings = _limit(app, caps, math.inf).open_model(str(uuid.uuid4()))
    codebase = replace(app.open_checkout(embeddings), index_once=True)
    app.progress.info(codebase.index().log_line)
    return codebase


def _share_for_vectors(app: App, left: Caps) -> Caps:
    if app.settings.effective_embedding_model == "local":
        return Caps(usd=0, tokens=0)
    return Caps(usd=left.usd * VECTORS_SHARE, tokens=int(left.tokens * VECTORS_SHARE))


def _limit(app: App, caps: Caps, seconds: float) -> App:
    """Return the app of one triage with these caps; by rules where nothing may be spent."""
    settings = app.settings
    changes = {
        "max_cost_usd": caps.usd,
        "max_tokens": caps.tokens,
        "memory_issues": 0,  # the list has read them
        "timeout_seconds": min(settings.timeout_seconds, seconds),
    }
    limited = settings.model_copy(update=changes)
    return replace(app, settings=limited if caps.tokens else limited.with_rules_engine())
