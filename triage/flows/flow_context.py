"""What a flow acts through, and how it ends."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from triage.domain.effect import Policy
from triage.domain.issue import Issue, Repository
from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.ports import GitHub, ProgressLog, Runner, Services


@dataclass(frozen=True)
class FlowContext:
    """What the flow acts through. `services` is called only when there is work: it costs seconds."""

    github: GitHub
    runner: Runner
    progress: ProgressLog
    policy: Policy
    repository: Repository
    open_services: Callable[[], Services]
    now: Callable[[], datetime]
    event_issue: Issue | None = None
    """The issue as the event's payload shows it, with the comment that the event is about; none when it brings none."""
    seconds_left: Callable[[], float] = lambda: math.inf
    """Until everything must be written: the run's time and a little more, after a signal a few seconds."""
    read_seconds_left: Callable[[], float] = lambda: math.inf
    """For the next question to GitHub before the work begins: a triage of what the event tells must still fit."""
    config: ProjectConfig = field(default_factory=ProjectConfig)
    """The project's own settings."""
    open_idle_services: Callable[[], Services] | None = None
    """The services of a run that is cancelled before it begins; quicker to have."""
    max_model_runs: int | None = None
    """In 24 hours, in this repository; none where no model would be asked."""
    open_rules_services: Callable[[], Services] | None = None
    """The services of a run beyond that."""


@dataclass(frozen=True)
class FlowResult:
    """How it ended; the root makes an exit code of it."""

    status: Status
    report: RunReport | None = None
