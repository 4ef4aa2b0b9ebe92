"""The runner with every secret of ours redacted in what is written to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from triage.safety.secrets.redactor import SecretRedactor

if TYPE_CHECKING:
    from triage.domain.code import Span
    from triage.ports import AnnotationLevel, Runner


class RedactingRunner:
    def __init__(self, runner: Runner, redactor: SecretRedactor) -> None:
        self._runner, self._redactor = runner, redactor
        self._redact_summary = redactor.redactor_for("summary")
        self.has_written_summary = False

    def write_summary(self, markdown: str) -> None:
        self.has_written_summary = True
        self._runner.write_summary(self._redact_summary(markdown))

    def write_outputs(self, values: Mapping[str, str]) -> None:
        self._runner.write_outputs(self._redactor.redactor_for("outputs")(dict(values)))

    def annotate(self, level: AnnotationLevel, message: str, at: Span | None = None) -> None:
        """As the port; a file with a secret in its path is not named."""
        where = at if at is None or not self._redactor.has_match(at.path) else None
        self._runner.annotate(level, self._redactor.redactor_for("annotations")(message), where)

    def write_report(self, json_text: str) -> str:
        return self._runner.write_report(self._redactor.redactor_for("report")(json_text))
