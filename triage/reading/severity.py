"""How bad a bug is, by what it does to users."""

from collections.abc import Sequence

from triage.domain.findings import Severity
from triage.reading.symptoms import Symptom, SymptomKind

_SEVERITIES: dict[SymptomKind, Severity] = {
    "security": "CRITICAL",
    "data_loss": "CRITICAL",
    "blocks_everyone": "CRITICAL",
    "crash": "HIGH",
    "regression": "HIGH",
    "hang": "HIGH",
    "wrong_result": "MEDIUM",
    "performance": "MEDIUM",
    "cosmetic": "LOW",
    "documentation": "LOW",
}
_ORDER: tuple[Severity, ...] = ("CRITICAL", "HIGH", "MEDIUM", "LOW")


def find_severity(symptoms: Sequence[Symptom]) -> tuple[Severity, Symptom] | None:
    """The severity of the worst symptom, and that symptom; None without any."""
    worst = min(symptoms, key=lambda symptom: _ORDER.index(_SEVERITIES[symptom.kind]), default=None)
    return (_SEVERITIES[worst.kind], worst) if worst else None
