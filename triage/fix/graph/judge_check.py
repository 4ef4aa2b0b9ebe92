"""What the project's own check says of a patch, compared with the base commit, and with the new tests alone."""

from typing import NamedTuple

from triage.domain.proposal import PatchDraft
from triage.fix.fix_ports import CheckResult
from triage.fix.graph.fix_state import FixContext
from triage.fix.proposal_text import describe_example

MAX_NAMED = 20
FAILS_ANYWAY = "The check fails with this change, and without it too, so it says nothing."
FAILS = "The check fails with this change."


class CheckVerdict(NamedTuple):
    text: str
    """For the person who decides."""
    is_ok: bool = True
    output: str = ""
    """What was printed, if something fails that may have another cause than the base commit. Not masked."""
    may_be_fixed: bool = False
    """Whether the cause is the patch, so that the model can be asked again."""


def judge_check(draft: PatchDraft, context: FixContext) -> CheckVerdict:
    """Run the check as often as it takes, and the report's example. Slow; raises TriageError if it cannot be run."""
    verdict = _judge_tests(draft, context)
    if not verdict.is_ok or context.run_example is None:
        return verdict
    result = context.run_example(draft)
    said = describe_example(result.outcome, result.reason)
    verdict = verdict._replace(text=f"{verdict.text} {said}")
    if result.outcome != "still":
        return verdict
    return verdict._replace(is_ok=False, output=f"{said}\n{result.output}", may_be_fixed=True)


def _judge_tests(draft: PatchDraft, context: FixContext) -> CheckVerdict:
    """Return what the check says. Where the base commit fails, only tests count that do not fail there."""
    assert context.run_check is not None
    whole, base = context.run_check(draft, True), context.unchanged
    if whole.is_ok:
        passes = "The check passes with this change"
    elif not base.is_ok and not base.failed:
        return CheckVerdict(FAILS_ANYWAY, is_ok=False, output=whole.output)
    else:
        broken = sorted(set(whole.failed) - set(base.failed))
        if broken or base.is_ok or not whole.failed:
            return CheckVerdict(FAILS, is_ok=False, output=_format_output(whole, broken), may_be_fixed=True)
        count = f"{len(whole.failed)} test{'s' * (len(whole.failed) != 1)}"
        passes = f"The check fails with this change only where it fails without it too ({count})"
    return CheckVerdict(passes + _describe_proof(draft, context, whole))


def _format_output(whole: CheckResult, names: list[str]) -> str:
    listed = "".join(f"\n- {name}" for name in names[:MAX_NAMED])
    return f"{whole.output}\n\nThese tests do not fail without the change:{listed}" if listed else whole.output


def _describe_proof(draft: PatchDraft, context: FixContext, whole: CheckResult) -> str:
    """Return the end of the sentence: what the new test proves, which alone is there when the check runs once more."""
    base = context.unchanged
    if not draft.has_test_commit:
        return " and fails without it." if whole.is_ok and not base.is_ok else "."
    assert context.run_check is not None
    before = context.run_check(draft, False)
    if not before.is_ok and (base.is_ok or whole.is_ok or set(before.failed) - {*base.failed, *whole.failed}):
        return " and fails without it." if whole.is_ok else ". A new test passes with it and fails without it."
    return " and passes without it too: the test proves nothing, or the check does not run it." if whole.is_ok else "."
