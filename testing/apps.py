"""Apps over a folder, for tests that open real clients."""

from pathlib import Path
from typing import Any

from testing.fakes import FakeProgressLog
from triage.app.app import App
from triage.app.settings.inputs import Settings
from triage.app.settings.runner_environment import RunnerEnvironment
from triage.safety.secrets.redactor import SecretRedactor


def make_app(settings: Settings, root: Path, repository: str = "acme/wired", **changes: Any) -> App:
    """An app that logs to a fake and knows no secrets, but for the changes."""
    given: dict[str, Any] = {
        "environment": RunnerEnvironment(),
        "progress": FakeProgressLog(),
        "redactor": SecretRedactor([]),
    }
    return App(settings=settings, root=root, repository=repository, **given | changes)
