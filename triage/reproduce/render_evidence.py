"""The third step: what the comment, or the terminal, says about the runs. Reads them as a stranger's words."""

import json
from collections.abc import Sequence
from typing import Any

from triage.base.text import truncate, word_set
from triage.read.reporter_language import get_phrases
from triage.reproduce.evidence import Change, Evidence, Run, Selection
from triage.reproduce.expected import is_same_output
from triage.reproduce.pages import MAX_CELL_CHARS, Pages, find_executed_code, format_cell
from triage.reproduce.runner.read_record import GONE
from triage.reproduce.verdict import is_same_everywhere
from triage.safety.safe_markdown import escape_markdown, escape_table_cell, format_code_block, format_code_span
from triage.safety.secrets.likely_secrets import redact_likely_secrets, shorten_text
from triage.say.wording import format_count

_MAX_SHOWN_OUTPUT = 1_500
_MAX_LISTED = 20
_MAX_SHOWN_CODE = 6_000
SUMMARY = "The example as it was run, and what it printed"
"""Each block has it if something ran. GitHub's search finds issues by it."""
IN_REGISTRY = "If it is on PyPI or npm, set reproduce: package: in .github/triage.yml."
_JSON_FIELDS = word_set("on commit outcome reason runtime error output repeats failures same_failure")


def render_evidence(
    selection: Selection,
    evidence: Evidence,
    pages: Pages,
    *,
    is_own: bool = False,
    asked: str = "",
    is_at_terminal: bool = False,
) -> str:
    """Return the block as Markdown. At a terminal it has no HTML: nothing is folded there.

    Args:
        selection: What was run.
        evidence: What happened.
        pages: The repository.
        is_own: The example stands in the command, not in the report.
        asked: A sentence to the reporter; empty without one.
        is_at_terminal: It is not for GitHub.
    """
    where = "command" if is_own else "report"
    runtimes = list(dict.fromkeys(escape_markdown(run.runtime) for run in evidence.runs if run.runtime))
    ran = f"The example from the {where}{', run on ' if runtimes else ''}{' and '.join(runtimes)}:"
    parts = [f"**{_describe_verdict(selection, evidence, where)}** {ran}"]
    parts.append(_render_table(evidence, pages, where))
    parts += filter(None, [_describe_untagged(selection, evidence), _describe_change(evidence, pages), asked])
    details = _render_details(selection, evidence, pages)
    heading = SUMMARY if any(run.runtime or run.outcome[:5] != "could" for run in evidence.runs) else "The example"
    fold = f"<details><summary>{heading}</summary>\n\n{details}\n\n</details>"
    parts += [f"**{heading}**", details] if is_at_terminal else [fold]
    return "\n\n".join(parts) + "\n"


def _describe_untagged(selection: Selection, evidence: Evidence) -> str:
    """Return what was run for a version without a tag. Its own package from the registry is that version."""
    missing = format_code_span(selection.missing)
    if run := next((run for run in evidence.runs if run.on == selection.missing), None):
        return f"No tag: commit {format_code_span(run.commit[:7])}, whose files say {missing}." if run.commit else ""
    if not selection.missing:
        return ""
    return (
        f"The report names {missing}, which has no tag: {format_code_span(selection.targets[0].on)} stands in for it."
    )


def _describe_verdict(selection: Selection, evidence: Evidence, where: str) -> str:
    """Return the first sentence of the block: what happens on the default branch."""
    named, current = evidence.runs[0], evidence.runs[-1]
    on, before, is_output = _name(current), format_code_span(named.on), evidence.measure == "output"
    neither = f"neither {before} nor {on} prints" if named != current else f"{on} does not print"
    match evidence.verdict:
        case "still":
            does = f"prints on {on} what the {where} shows." if is_output else f"happens on {on}."
            ran = [run for run in evidence.versions if run.outcome in ("passed", "failed") and run.reason != GONE]
            is_alone = len(ran) < len(evidence.versions[:2])  # such as the newest release, for a main that does not run
            return f"{does[0].upper()}{does[1:]}" if is_alone else f"Still {does}"
        case "fixed":
            wished = f"Prints on {on} what the {where} wishes, and no longer what it shows."
            return wished if is_output else f"No longer happens on {on}."
        case "changed":
            return f"Prints on {on} something else than the {where}."
        case "newer":
            return f"Happens on {on}, but not on {before}: it is newer, or depends on the machine."
        case "not-reproduced" if evidence.measure != "error":
            return f"Not reproduced: {neither} here what the {where} shows."
        case "not-reproduced":
            both = " and ".join(dict.fromkeys([before, on]))
            return f"Not reproduced here on {both}. The reporter's environment may differ."
        case "other-failure":
            return _describe_failure(evidence, where)
        case "nothing-to-compare":
            return _describe_difference(selection, evidence, where)
        case _:
            return _describe_obstacle(evidence)


def _describe_failure(evidence: Evidence, where: str) -> str:
    named, current = evidence.runs[0], evidence.runs[-1]
    if gone := [run for run in evidence.versions if run.reason == GONE]:
        names = " and ".join(map(_name, gone))
        verb = "does" if len(gone) == 1 else "do"
        return f"The example uses what {names} {verb} not have: {format_cell(gone[-1].error)}."
    if named.same_failure and named.error:
        return f"Fails on {_name(current)} with another error than on {format_code_span(named.on)}."
    failing = _name(current) if current.error else format_code_span(named.on)
    return f"Fails on {failing}, but with an error that the {where} does not show outside of the example."


def _describe_obstacle(evidence: Evidence) -> str:
    runs = (evidence.runs[-1], evidence.runs[0])
    if evidence.verdict == "mixed":
        run = next(run for run in runs if run.is_mixed)
        return f"Not the same each time: {run.failures} of {run.repeats} runs on {_name(run)} show it."
    if evidence.verdict == "could-not-install":
        missing = [_name(run) for run in evidence.versions if run.outcome == "could-not-install"]
        hint = f" {IN_REGISTRY}" if all(run.commit for run in evidence.versions) else ""  # no registry was asked
        return f"Could not be installed: {', '.join(missing)}.{hint}"
    run = next((run for run in runs if run.outcome in ("could-not-run", "timed-out")), runs[0])
    error = f" ({format_code_span(shorten_text(run.error, MAX_CELL_CHARS))})" if run.error else ""
    return f"The example could not be run on {_name(run)}: {escape_markdown(run.reason)}{error}."


def _describe_difference(selection: Selection, evidence: Evidence, where: str) -> str:
    if selection.is_feature:
        return "The example runs. The report asks for something new, so a person must say what is right."
    if evidence.runs[-1].is_wished:
        return f"The example prints on {_name(evidence.runs[-1])} what the {where} wishes, or shows of another version."
    if is_same_everywhere(evidence.runs):
        ran = all(run.outcome in ("passed", "failed") for run in evidence.versions)
        same = ", with the same result on each version" if ran else ""
        return f"The example runs{same}. A person must say whether it is right."
    return "The example runs, with different results. A person must say which one is right."


def ask_reporter(evidence: Evidence, language: str) -> str:
    """Return what only the reporter can answer, in their language; empty for nothing."""
    phrases = get_phrases(language)
    if evidence.verdict == "not-reproduced":
        return phrases.ask_difference
    found = evidence.first_good
    newer = found.release if found and not found.gap else ""
    return phrases.ask_newer.format(version=format_code_span(newer)) if newer else ""


def _name(run: Run) -> str:
    name = format_code_span(run.on)
    return f"{name} ({format_code_span(run.commit[:7])})" if run.commit and not run.commit.startswith(run.on) else name


def _render_table(evidence: Evidence, pages: Pages, where: str) -> str:
    runs = evidence.versions
    outcomes = [_describe_outcome(run, runs[:number], where) for number, run in enumerate(runs)]
    rows = [["", *(format_code_span(run.on) for run in runs)], ["---"] * (len(runs) + 1), ["outcome", *outcomes]]
    if any(run.place for run in runs):
        rows.append(["ends in", *(pages.format_place(run) for run in runs)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _describe_outcome(run: Run, earlier: Sequence[Run], where: str) -> str:
    if run.outcome == "failed":
        is_same = any(one.outcome == "failed" and run.error == one.error for one in earlier)
        share = f", in {run.failures} of {run.repeats} runs" if run.is_mixed else ""
        return f"{'the same' if is_same else format_cell(run.error)}{share}"
    if run.outcome != "passed":
        if any((run.outcome, run.reason, run.error) == (one.outcome, one.reason, one.error) for one in earlier):
            return "the same"
        shown = escape_table_cell(f"{run.outcome.replace('-', ' ')}: {run.reason}", MAX_CELL_CHARS)
        return f"{shown} ({format_cell(run.error)})" if run.error else shown
    if any(one.outcome == "passed" and is_same_output(run.output, one.output) for one in earlier):
        return "no error, the same output" if run.output.strip() else "no error"
    return f"no error, the output of the {where}" if run.same_failure else "no error"


def _describe_change(evidence: Evidence, pages: Pages) -> str:
    change = evidence.first_good or evidence.first_bad
    if change is None:
        return escape_markdown(evidence.searched)
    has, had = ("without it", "Last release with it") if evidence.first_good else ("with it", "Worked in")
    if change.gap:
        ends = " and ".join(map(format_code_span, (change.before, change.release or evidence.runs[-1].on)))
        more = f" and {len(change.gap) - _MAX_LISTED} more" if len(change.gap) > _MAX_LISTED else ""
        listed = ", ".join(map(format_code_span, change.gap[:_MAX_LISTED]))
        reason = escape_markdown(shorten_text(change.gap_reason, MAX_CELL_CHARS))
        return f"Changed between {ends}; {listed}{more} {reason}{_describe_commit(change, pages)}."
    before = f"{had}{':' if evidence.first_good else ''} {format_code_span(change.before)}."
    first = f"First release {has}: {format_code_span(change.release)}" if change.release else "Not released yet"
    return f"{before} {first}{_describe_commit(change, pages)}."


def _describe_commit(change: Change, pages: Pages) -> str:
    commit = pages.format_commit(change.commit) if change.commit else ""
    return f"; first commit: {commit}" if commit else ""


def _render_details(selection: Selection, evidence: Evidence, pages: Pages) -> str:
    example = selection.example
    language = "js" if example.language == "node" else example.language
    code = redact_likely_secrets(example.code.rstrip())
    parts = [format_code_block(truncate(code, _MAX_SHOWN_CODE), language)]
    unseen = code.count("\n", _MAX_SHOWN_CODE)
    said = [f"{format_count(unseen, 'more line')} ran, which this is too short for."] if unseen else []
    parts += ["", " ".join(map(escape_markdown, [*said, *(example.changed or ["Nothing was changed."])])), ""]
    for number, run in enumerate(evidence.runs):
        if run.output.strip() and not any(is_same_output(run.output, one.output) for one in evidence.runs[:number]):
            output = redact_likely_secrets(run.output.rstrip())[:_MAX_SHOWN_OUTPUT]
            parts += [f"Printed on {format_code_span(run.on)}:", "", format_code_block(output, "text"), ""]
    for run in (one for one in evidence.versions if one.runtime):
        runtime, time, runs = escape_markdown(run.runtime), escape_markdown(run.time), format_count(run.repeats, "run")
        parts.append(f"- {format_code_span(run.on)}: {runtime}, packages up to {time}, {runs}")
    if executed := list_executed(evidence.runs[-1], pages):
        listed = ", ".join(map(format_code_span, executed[:_MAX_LISTED]))
        more = f" and {len(executed) - _MAX_LISTED} more" if len(executed) > _MAX_LISTED else ""
        parts += ["", f"Files of the project that it executes, beyond imports: {listed}{more}."]
    return "\n".join(parts)


def list_executed(run: Run, pages: Pages) -> list[str]:
    """Return the files of the version whose functions ran, those with most functions first."""
    counts: dict[str, int] = {}
    for place in run.executed:
        if path := pages.find_path(place.path, pages.find_commit(run)):
            counts[path] = counts.get(path, 0) + 1
    return sorted(counts, key=lambda path: (-counts[path], path))


def dump_evidence(selection: Selection, evidence: Evidence, pages: Pages) -> str:
    """Return the evidence as JSON, for later steps and measurements."""
    example, executed_code = selection.example, find_executed_code(evidence, pages.find_path)
    runs: list[dict[str, Any]] = []
    for run in evidence.versions:
        place, commit = run.place, pages.find_commit(run)
        path = pages.find_path(place.path, commit) or place.path if place else ""
        shown = {"path": path, "line": place.line} if place else None
        fields = run.model_dump(include={*_JSON_FIELDS})
        runs.append({**fields, "place": shown, "executed": list_executed(run, pages)})
    fields = {
        **evidence.model_dump(include={"verdict", "measure", "first_bad", "first_good"}),
        "example": example.model_dump(include={"language", "code", "changed"}),
        "runs": runs,
        "executed_code": executed_code and executed_code.model_dump(),
    }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
