"""Measures what is read in an issue against labels by hand: `bench/data/readings.jsonl`.

A label has the id of the issue and places in its text (the title, a line break, the body), not the text: the sets that
hold the texts are given with `--set` (records with `instance_id` and `problem_statement`, or with `repo`, `created_at`,
`title` and `body`). The half `look` was used while the rules were written, the half `held` was not.

Versions are compared by number, errors must have all of the labelled message, and severities must have the same level.
Of regressions only the presence is compared.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage.domain.issue import Issue, IssueFacts, ParsedIssue
from triage.read.issue_facts import find_facts
from triage.read.kind.issue_kind import read_kind
from triage.read.questions import find_missing_information
from triage.read.read_issue import read_issue

LABELS = Path(__file__).parent / "data" / "readings.jsonl"
_NUMBER = re.compile(r"\d+(?:\.\d+)+|[0-9a-f]{7,40}|\d+")

Label = dict[str, Any]


@dataclass(frozen=True)
class LabelledIssue:
    label: Label
    repo: str
    text: str

    def spans(self, field_name: str) -> list[str]:
        """The labelled words of a field."""
        value = self.label[field_name]
        places = value if value and isinstance(value[0], list) else [value] if value else []
        return [self.text[start:end] for start, end in places if end > start]


@dataclass
class Score:
    """`found` of the reader, `given` by the label, `right` in both."""

    found: int = 0
    given: int = 0
    right: int = 0
    errors: list[str] = field(default_factory=list)

    def add(self, issue: LabelledIssue, found: object, given: object, *, is_right: bool) -> None:
        self.found += bool(found)
        self.given += bool(given)
        self.right += bool(found) and bool(given) and is_right
        if bool(found) != bool(given) or (found and not is_right):
            self.errors.append(f"{issue.label['id']}: {given!r} read as {found!r}")

    def row(self, name: str) -> str:
        precision = f"{100 * self.right / self.found:.0f} %" if self.found else "-"
        recall = f"{100 * self.right / self.given:.0f} %" if self.given else "-"
        return f"| {name} | {self.given} | {precision} | {recall} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", type=Path, action="append", required=True, help="JSON lines with the texts")
    parser.add_argument("--half", choices=["look", "held"], help="only this half")
    parser.add_argument("--errors", action="store_true", help="also print each difference")
    options = parser.parse_args()
    labels = [json.loads(line) for line in LABELS.read_text().splitlines()]
    chosen = [label for label in labels if options.half in (None, label["half"])]
    print(measure(list(join_texts(chosen, options.set)), with_errors=options.errors))


def join_texts(labels: Sequence[Label], sets: Sequence[Path]) -> Iterator[LabelledIssue]:
    """Each label with its text.

    Raises:
        SystemExit: a text is missing, or is not the one that was labelled.
    """
    texts: dict[str, tuple[str, str]] = {}
    for path in sets:
        for record in map(json.loads, path.read_text().splitlines()):
            if "instance_id" in record:
                texts[record["instance_id"]] = (record["repo"], record["problem_statement"])
            else:
                text = f"{record['title']}\n{record['body'] or ''}"
                texts[f"{record['repo']} {record['created_at']}"] = (record["repo"], text)
    for label in labels:
        repo, text = texts.get(label["id"], ("", ""))
        if len(text) != label["chars"]:
            raise SystemExit(
                f"No set has the text of {label['id']} with {label['chars']} characters. Add it with --set."
            )
        yield LabelledIssue(label, repo, text)


def measure(issues: Sequence[LabelledIssue], *, with_errors: bool = False) -> str:
    """A Markdown table with precision and recall of each field, and how often something is asked."""
    scores: dict[str, Score] = {}
    asked = Counter[str]()
    for issue in issues:
        title, _, body = issue.text.partition("\n")
        parsed = read_issue(Issue(title=title, body=body))
        facts = find_facts(parsed, issue.repo)
        for name, found, given, is_right in _compare(issue, parsed, facts):
            if name not in issue.label["optional"]:
                scores.setdefault(name, Score()).add(issue, found, given, is_right=is_right)
        if issue.label["kind"] == "bug" and read_kind(parsed).kind in ("bug", None):
            kinds = [missing.kind for missing in find_missing_information(parsed, [], issue.repo)]
            asked.update(_judge_questions(issue.label, kinds))
    lines = [
        "| field | given | precision | recall |",
        "|---|---|---|---|",
        *(score.row(name) for name, score in scores.items()),
    ]
    lines.append(
        f"\nAsked {asked['needless']} of {asked['complete']} complete reports, {asked['wrong']} of them something that "
        f"they answer; {asked['asked']} of {asked['vague']} vague ones."
    )
    if with_errors:
        lines += [f"{name}: {error}" for name, score in scores.items() for error in score.errors]
    return "\n".join(lines)


def _compare(
    issue: LabelledIssue, parsed: ParsedIssue, facts: IssueFacts
) -> Iterator[tuple[str, object, object, bool]]:
    """Name of each field, what was found, what was labelled, and whether both are the same."""
    label = issue.label
    versions, errors = issue.spans("version"), issue.spans("error")
    version = facts.version.text if facts.version else ""
    yield "version", version, versions, any(_same_version(version, given) for given in versions)
    error = facts.error.text if facts.error else ""
    yield "error", error, errors, any(_contains(error, given) for given in errors)
    languages = sorted({trace.language for trace in parsed.stack_traces})
    yield "traces", languages, label["traces"], set(label["traces"]) <= set(languages)
    regression = label["regression"]
    yield "regression", facts.regression, regression, True
    worked, broken = (facts.regression.worked_in, facts.regression.broken_in) if facts.regression else ("", "")
    for name, found in (("worked", worked), ("broken", broken)):
        given = issue.text[slice(*regression[name])] if regression and regression[name] else ""
        if not (regression and "regression" in label["optional"]):
            yield f"{name} in", found, given, _same_version(found, given)
    severity = label["severity"]
    level = facts.severity.severity if facts.severity else ""
    if label["kind"] == "bug":
        yield "severity", level, severity and severity["level"], bool(severity) and level == severity["level"]


def _judge_questions(label: Label, kinds: Sequence[str]) -> Iterator[str]:
    if label["ask"]:
        yield "vague"
        yield from ["asked"] * bool(set(kinds) & set(label["ask"]))
    else:
        yield "complete"
        yield from ["needless"] * bool(kinds)
        yield from ["wrong"] * bool(set(kinds) - set(label["may_ask"]))


def _same_version(found: str, given: str) -> bool:
    numbers = [set(_NUMBER.findall(text)) for text in (found, given)]
    return bool(numbers[0] & numbers[1]) or (bool(found) and found.lower() in given.lower())


def _contains(found: str, given: str) -> bool:
    """Whether all of the labelled message was found: a fragment of it is wrong."""
    whole, part = (" ".join(re.findall(r"[\w.]+", text.lower())) for text in (found, given))
    return bool(part) and part in whole


if __name__ == "__main__":
    main()
