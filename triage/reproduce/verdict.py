"""From runs to a verdict, by one predicate for all versions. Pure functions."""

import re
from collections.abc import Sequence

from triage.reproduce.evidence import (
    MAX_PLACES,
    Execution,
    Expected,
    Failure,
    FailurePlace,
    Measure,
    Outcome,
    Run,
    Selection,
    Verdict,
)
from triage.reproduce.example.shown_output import are_plain_values
from triage.reproduce.expected import (
    ENDLESS,
    find_printed_errors,
    has_parts,
    is_named_error,
    is_same_output,
    is_shown_error,
    prints_only,
    replaces,
    says_endless,
    says_failing,
    shows_output,
    squeeze,
    stem,
)
from triage.reproduce.runner.read_record import EXAMPLE, GONE, OTHER, find_obstacle

_ENDED = ("passed", "failed")
_OF_ZONE = re.compile(r"GMT[+-]|\b\d{4}-\d\d?-\d\d?(?!\d)|(?<!\d)\d\d?:\d\d:\d\d")


def choose_failure(execution: Execution, expected: Expected) -> Failure | None:
    """Return the failure that counts: the one that the report shows, names, or the first."""
    if execution.outcome == "timed-out" and says_endless(expected):
        return ENDLESS
    own = [one for one in execution.failures if one.type in expected.in_session]
    shown = [one for one in (*own, *execution.failures) if is_shown_error(one, expected)]
    named = [one for one in execution.failures if is_named_error(one, expected)]
    return next(iter([*shown, *named, *execution.failures]), None)


def classify(execution: Execution, expected: Expected) -> tuple[Outcome, str]:
    """Return how one run ended, and what stopped it, if something did."""
    failure = choose_failure(execution, expected)
    if failure == ENDLESS or (failure and is_shown_error(failure, expected)):
        return "failed", ""  # some print it, and end as if all were well
    if execution.outcome != "failed" or failure is None or execution.reason == GONE:  # a name that this version lacks
        return execution.outcome, execution.reason
    obstacle = execution.reason or find_obstacle(execution, failure)
    return ("could-not-run", obstacle) if obstacle else ("failed", "")


def is_failed_assert(failure: Failure | None) -> bool:
    """Return whether an `assert` of the example itself failed."""
    return (
        failure is not None
        and failure.type == "AssertionError"
        and bool(failure.frames)
        and failure.frames[-1].path == EXAMPLE
    )


def choose_measure(executions: Sequence[Execution], expected: Expected) -> Measure:
    """Return what tells whether versions do the same: the first of the four that some run shows."""
    failures = [one for execution in executions if (one := choose_failure(execution, expected))]
    if expected.errors or any(is_reported_error(one, expected) for one in failures):
        return "error"
    if any(map(is_failed_assert, failures)) and says_failing(expected):
        return "assert"
    is_printed = any(shows_output(execution.output, one) for execution in executions for one in expected.printed)
    return "output" if is_printed else "difference"


def is_reported_error(failure: Failure, expected: Expected) -> bool:
    return failure == ENDLESS or is_shown_error(failure, expected) or is_named_error(failure, expected)


def has_failure(execution: Execution, expected: Expected, measure: Measure) -> bool:
    """Return whether one run shows what the report describes: the predicate of all versions and of the bisection."""
    if classify(execution, expected)[0] not in _ENDED:
        return False
    failure = choose_failure(execution, expected)
    if measure == "error":
        printed = find_printed_errors(execution.output, expected)
        is_raised = failure is not None and is_reported_error(failure, expected)
        return (is_raised or bool(printed)) and {*expected.in_session} <= _list_types(execution) | printed
    if measure == "assert":
        return is_failed_assert(failure)
    return measure == "output" and all(shows_output(execution.output, one) for one in expected.printed)


def is_same_result(one: Execution, other: Execution, expected: Expected) -> bool:
    """Return whether two runs of one version ended in the same way."""
    first, second = (choose_failure(execution, expected) for execution in (one, other))
    return one.outcome == other.outcome and (first and first.type) == (second and second.type)


def summarize(on: str, executions: Sequence[Execution], expected: Expected, measure: Measure) -> Run:
    """Return what all runs of one version say together."""
    first = executions[0]
    outcome, reason = classify(first, expected)
    failure = choose_failure(first, expected)
    count = sum(has_failure(one, expected, measure) for one in executions)
    return Run(
        on=on,
        outcome=outcome,
        reason=reason,
        runtime=first.runtime,
        error=failure.text if failure and outcome != "passed" else "",
        place=find_place(failure) if failure and outcome == "failed" else None,
        output=first.output,
        executed=first.executed[:MAX_PLACES],
        repeats=len(executions),
        failures=count,
        same_failure=count == len(executions),
        is_partial=bool(
            {one.type for one in expected.errors} - _list_types(first) - find_printed_errors(first.output, expected)
        ),
        is_random=any(not is_same_output(first.output, one.output) for one in executions),
        is_wished=any(shows_output(first.output, [one]) for one in expected.wished),
        is_mixed=any(not is_same_result(first, one, expected) for one in executions) or 0 < count < len(executions),
    )


def _list_types(execution: Execution) -> set[str]:
    return {name for failure in execution.failures for name in (failure.type, *failure.causes)}


def find_place(failure: Failure) -> FailurePlace | None:
    """Return the last frame of the project; None if none is in the trace."""
    return next((one for one in reversed(failure.frames) if one.path not in (EXAMPLE, OTHER)), None)


def decide_verdict(selection: Selection, runs: Sequence[Run], measure: Measure) -> Verdict:
    """Return the verdict of the named version, which is the first run, and of main, the last that could be judged."""
    named, current = runs[0], runs[-1]
    if any(run.is_mixed for run in (named, current)):
        return "mixed"
    if selection.is_feature:
        return "nothing-to-compare"
    for run in (current, named):
        if run.outcome not in _ENDED and not (run is named and current.same_failure):
            return "could-not-install" if run.outcome == "could-not-install" else "could-not-run"
    return _compare(named, current, selection, measure)


def _compare(named: Run, current: Run, selection: Selection, measure: Measure) -> Verdict:
    """Return the verdict on two runs that have ended."""
    if named.same_failure or current.same_failure:
        shown = selection.expected.shown if measure == "output" else []
        if not all(any(shows_output(run.output, one) for run in (named, current)) for one in shown):
            return "nothing-to-compare"  # the rest may be the fault
        if current.same_failure:
            # What the report shows as printed may be what it expects, and the fault a blank that is not compared.
            # A version without what the example uses was not the reporter's.
            is_other = named.outcome not in _ENDED or named.reason == GONE
            is_clear = is_other or (named.same_failure and is_same_everywhere([named, current]))
            # What is only named may be printed beside the fault.
            is_all = shown or any(prints_only(current.output, one) for one in selection.expected.named)
            if measure == "output" and not (is_clear and is_all and not current.is_wished):
                return "nothing-to-compare"
            return "newer" if named.outcome == "passed" and not named.same_failure else "still"
        if measure == "error" and named.is_partial and current.outcome == "passed":
            return "nothing-to-compare"  # an error that nobody saw may be there still
        if current.outcome != "passed":
            return "other-failure"
        # Another output may be the same fault in other words.
        is_repaired = any(
            prints_only(current.output, one) or replaces(named.output, shown, current.output, one)
            for one in selection.expected.wished
            for shown in selection.expected.printed
        )
        return "changed" if measure == "output" and not is_repaired else "fixed"
    # Where the report shows nothing, an error may be what it asks for.
    is_wish = measure == "difference" and not selection.expected.printed and current.reason != GONE
    if "failed" in (named.outcome, current.outcome):
        report = stem(selection.expected.report)
        if selection.expected.in_session and all(stem(run.error) in report for run in (named, current)):
            return "not-reproduced"  # what they raise is shown as well, and is not all
        return "nothing-to-compare" if is_wish and named.outcome == "passed" else "other-failure"
    if measure == "error":
        printed = current.output.split()  # if the report shows all of it, what raises the error is not the example
        is_all = bool(printed) and has_parts(selection.expected.claims, current.output.splitlines())
        return "not-reproduced" if selection.expected.errors and not is_all else "nothing-to-compare"
    return "not-reproduced" if _prints_neither(named, current, selection) else "nothing-to-compare"


def _prints_neither(named: Run, current: Run, selection: Selection) -> bool:
    """Return whether two versions print something, and it is nothing that the report shows.

    If the named version prints what the report wishes, that is no fault; if only main does, it may be a repair.
    """
    expected, is_repaired = selection.expected, current.is_wished and not named.is_wished
    lines = "\n".join(expected.named).split("\n")  # a sentence may be about another value
    is_value = len(expected.named) == 1 and are_plain_values(lines)  # a remark is no value
    is_value = is_value and all(run.output.count("\n") == len(lines) for run in (named, current))
    shown = expected.shown or ([lines] if is_value else [])
    is_local = _OF_ZONE.search(str(shown))  # the reporter's may have another day
    runs = () if not shown or is_repaired or is_local else (named, current)
    return bool(runs) and all(
        run.output.strip()
        and not run.is_random
        and not any(_is_part(run, one) for one in [*shown, *([text] for text in expected.commented)])
        for run in runs
    )


def _is_part(run: Run, shown: Sequence[str]) -> bool:
    """Return whether a run prints half of what is shown, or a transcript shows all that it prints."""
    printed = sum(squeeze(piece) in squeeze(run.output) for piece in shown)
    return 2 * printed >= len(shown) or has_parts("\n".join(shown), run.output.splitlines())


def is_same_everywhere(runs: Sequence[Run]) -> bool:
    """Return whether all versions that could be run ended and printed the same."""
    first, *others = [run for run in runs if run.outcome in _ENDED] or runs
    return all(
        run.outcome == first.outcome and run.error == first.error and is_same_output(run.output, first.output)
        for run in others
    )
