"""The supervisor's proposal: by rules, or by a model whose word counts only where the law allows it."""

from collections.abc import Sequence

from triage.agents.prompt_sections import format_findings, format_instructions
from triage.agents.prompts import build_messages, cut, format_bullets
from triage.domain.findings import PlannerProposal
from triage.domain.run import PlannerDecision, Usage
from triage.graph.degradation import compute_share_left
from triage.graph.routing import Bounds, Choice, build_decision, find_choice, list_choices
from triage.graph.step_runner import StepRecorder, ask_model
from triage.graph.triage_state import BugTriageState, build_agent_input
from triage.ports import Model

MAX_TOKENS = 256
MAX_SECONDS = 10.0
"""A decision that takes longer costs more than it can bring: the fixed sequence is good."""
MAX_FINDINGS_CHARS = 8_000


async def decide(state: BugTriageState, bounds: Bounds, trail: StepRecorder) -> PlannerDecision:
    """Who is next. A limit's decision is not put to a model; a failed, late or unlawful proposal gives way to rules."""
    services = trail.services
    options = list_choices(state, bounds)
    ruled = build_decision(options[0], state, bounds, services.now())
    if services.supervisor != "model" or services.model is None or ruled.forced or ruled.rung == "rules":
        return ruled
    model = services.model
    asked = await ask_model(
        trail,
        lambda: _ask_planner(_build_sections(state, bounds, options) | format_instructions(services), model),
        lambda proposal: explain_refusal(proposal, options),
        min(MAX_SECONDS, services.limits.agent_seconds, services.seconds_left() - services.limits.writer_seconds),
    )
    proposal = asked.result
    chosen = find_choice(proposal.selected, options) if proposal else None
    if proposal is None or chosen is None:
        proposed = [str(name) for name in proposal.selected] if proposal else []
        return ruled.model_copy(update={"proposed": proposed, "refused": asked.failure})
    return build_decision(chosen, state, bounds, services.now()).model_copy(
        update={"reason": proposal.reason, "confidence": proposal.confidence, "origin": "model"}
    )


async def _ask_planner(parts: dict[str, str], model: Model) -> PlannerProposal:
    planner = model.structured_output(PlannerProposal, "fast", MAX_TOKENS)
    return await planner.ainvoke(build_messages("supervisor", parts))


def _build_sections(state: BugTriageState, bounds: Bounds, options: Sequence[Choice]) -> dict[str, str]:
    case = build_agent_input(state)
    left = compute_share_left(bounds.spent or Usage(), bounds.limits)
    # No seconds: a prompt that differs from run to run could not be answered from the reply store.
    time = "enough" if bounds.seconds_left > 3 * bounds.limits.writer_seconds else "little"
    return {
        "issue title": cut(case.reading.title, 500),
        "findings so far": cut(format_findings(case.findings), MAX_FINDINGS_CHARS),
        "what the critic misses": format_bullets(case.critique.gaps) if case.critique else "",
        "where the run stands": f"decision {state.iterations + 1} of {bounds.limits.iterations}, round {state.round}, "
        f"{left:.0%} of the budget and {time} time left",
        "choices": format_bullets([f"{' + '.join(choice.selected)}: {choice.reason}" for choice in options]),
    }


def explain_refusal(proposal: PlannerProposal, options: Sequence[Choice]) -> str | None:
    """Why a proposal is not taken; none when it is lawful."""
    if find_choice(proposal.selected, options):
        return None
    allowed = " or ".join(" + ".join(choice.selected) for choice in options)
    return f"unlawful proposal: only {allowed} may run now"
