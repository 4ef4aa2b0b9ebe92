"""The supervisor's decision: by rules, or a model's proposal if the routing rules allow it."""

from collections.abc import Sequence

from triage.agents.prompts import build_messages, cut, format_bullets, format_findings, format_instructions
from triage.domain.findings import PlannerProposal
from triage.domain.run import PlannerDecision, Usage
from triage.graph.routing import Choice, RemainingBudget, build_decision, compute_share_left, find_choice, list_choices
from triage.graph.step_runner import StepRecorder, run_attempt
from triage.graph.triage_state import BugTriageState, build_agent_input

MAX_TOKENS = 256
MAX_SECONDS = 10.0
"""A slower decision costs more time than it can save: the fixed sequence is good."""
MAX_FINDINGS_CHARS = 8_000


async def decide(state: BugTriageState, bounds: RemainingBudget, recorder: StepRecorder) -> PlannerDecision:
    """Return which agents run next.

    A model may choose where the routing rules leave several choices. When its proposal fails, is late or is not
    allowed, the rules decide.
    """
    services = recorder.services
    choices = list_choices(state, bounds)
    by_rules = build_decision(choices[0], state, bounds, services.now())
    if services.supervisor != "model" or services.model is None or len(choices) == 1 or by_rules.rung == "rules":
        return by_rules
    planner = services.model.structured_output(PlannerProposal, "fast", MAX_TOKENS)
    sections = _build_sections(state, bounds, choices) | format_instructions(services)
    attempt = await run_attempt(
        recorder,
        "model",
        lambda: planner.ainvoke(build_messages("supervisor", sections)),
        lambda proposal: explain_refusal(proposal, choices),
        min(MAX_SECONDS, services.limits.agent_seconds, services.seconds_left() - services.limits.writer_seconds),
    )
    proposal = attempt.result
    choice = find_choice(proposal.selected, choices) if proposal else None
    if proposal is None or choice is None:
        proposed = [str(name) for name in proposal.selected] if proposal else []
        return by_rules.model_copy(update={"proposed": proposed, "refused": attempt.failure or ""})
    return build_decision(choice, state, bounds, services.now()).model_copy(
        update={"reason": proposal.reason, "confidence": proposal.confidence, "origin": "model"}
    )


def _build_sections(state: BugTriageState, bounds: RemainingBudget, choices: Sequence[Choice]) -> dict[str, str]:
    agent_input = build_agent_input(state)
    left = compute_share_left(bounds.spent or Usage(), bounds.limits)
    # No seconds: the prompt of a run that starts again must be the same, or its reply is not found in the cache.
    time = "enough" if bounds.seconds_left > 3 * bounds.limits.writer_seconds else "little"
    return {
        "issue title": cut(agent_input.reading.title, 500),
        "findings so far": cut(format_findings(agent_input.findings), MAX_FINDINGS_CHARS),
        "what the critic misses": format_bullets(agent_input.critique.gaps) if agent_input.critique else "",
        "where the run stands": f"decision {state.iterations + 1} of {bounds.limits.iterations}, round {state.round}, "
        f"{left:.0%} of the budget and {time} time left",
        "choices": format_bullets([f"{' + '.join(choice.selected)}: {choice.reason}" for choice in choices]),
    }


def explain_refusal(proposal: PlannerProposal, choices: Sequence[Choice]) -> str | None:
    """Return why the routing rules refuse a proposal; None when they allow it."""
    if find_choice(proposal.selected, choices):
        return None
    allowed = ", or ".join(" + ".join(choice.selected) for choice in choices).replace("_", " ")
    return f"the model proposed a step that is not allowed here; allowed: {allowed}"
