"""The supervisor's decision: by rules, or a model's proposal if the routing rules allow it."""

from collections.abc import Sequence

from triage.agents.prompts import build_messages, format_bullets, format_findings, format_instructions, shorten
from triage.domain.findings import PlannerProposal
from triage.domain.run import PlannerDecision
from triage.graph.routing import Choice, RemainingBudget, list_choices
from triage.graph.step_runner import Step
from triage.graph.triage_state import BugTriageState
from triage.ports import ISSUE_SEARCH, Services

MAX_TOKENS = 256
MAX_FINDINGS_CHARS = 8_000


async def decide(state: BugTriageState, budget: RemainingBudget, step: Step) -> PlannerDecision:
    """Return which agents run next.

    A model may choose where the routing rules leave several choices. When its proposal fails, is late or is not
    allowed, the rules decide.
    """
    services = step.services
    choices = list_choices(state, budget, has_web_search=may_search_web(state, services))
    by_rules = PlannerDecision(
        number=step.iteration,
        selected=list(choices[0].selected),
        reason=choices[0].reason,
        timestamp=services.now(),
        budget_level=budget.level,
        forced=choices[0].forced,
    )
    if services.supervisor != "model" or services.model is None or len(choices) == 1 or budget.level == "rules":
        return by_rules
    planner = services.model.structured_output(PlannerProposal, "fast", MAX_TOKENS)
    sections = _build_sections(state, budget, choices) | format_instructions(services)
    attempt = await step.attempt(
        "model",
        lambda: planner.ainvoke(build_messages("supervisor", sections)),
        services.agent_seconds(),
        lambda proposal: check_proposal(proposal, choices),
    )
    proposal = attempt.result
    choice = find_choice(proposal, choices) if proposal else None
    if proposal is None or choice is None:
        proposed = list(proposal.selected) if proposal else []
        return by_rules.model_copy(update={"proposed": proposed, "refused": attempt.error or ""})
    by_model = {"origin": "model", "reason": proposal.reason, "confidence": proposal.confidence}
    return by_rules.model_copy(update=by_model | {"selected": list(choice.selected), "timestamp": services.now()})


def may_search_web(state: BugTriageState, services: Services) -> bool:
    """Return whether there is a web search with somewhere to look. Words of a security report are not sent to one."""
    is_security_report = state.kind_reading is not None and state.kind_reading.security
    if services.web_tools is None or is_security_report:
        return False
    is_declared = state.failing_package is not None and state.failing_package.is_declared
    return is_declared or services.web_tools.tools[0].name != ISSUE_SEARCH


def _build_sections(state: BugTriageState, budget: RemainingBudget, choices: Sequence[Choice]) -> dict[str, str]:
    # No seconds: the same state must give the same prompt.
    time = "enough" if budget.seconds_left > 3 * budget.limits.writer_seconds else "little"
    return {
        "issue title": shorten(state.parsed.title, 500),
        "findings so far": shorten(format_findings(state.findings), MAX_FINDINGS_CHARS),
        "what the critic misses": format_bullets(state.critic_feedback.gaps) if state.critic_feedback else "",
        "where the run stands": f"decision {state.iterations + 1} of {budget.limits.iterations}, round {state.round}, "
        f"{budget.share_left:.0%} of the budget and {time} time left",
        "choices": format_bullets([f"{' + '.join(choice.selected)}: {choice.reason}" for choice in choices]),
    }


def find_choice(proposal: PlannerProposal, choices: Sequence[Choice]) -> Choice | None:
    """Return the choice of the proposed agents, in any order; None when they may not run now."""
    return next((choice for choice in choices if set(choice.selected) == set(proposal.selected)), None)


def check_proposal(proposal: PlannerProposal, choices: Sequence[Choice]) -> str | None:
    """Return why the routing rules refuse a proposal; None when they allow it."""
    if find_choice(proposal, choices):
        return None
    allowed = ", or ".join(" + ".join(choice.selected) for choice in choices).replace("_", " ")
    return f"the model proposed a step that is not allowed here; allowed: {allowed}"
