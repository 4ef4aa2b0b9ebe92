"""What people read, as files."""

import json
from collections.abc import Sequence

import pytest

from testing.each_row import each_row
from tests.reproduce.runs import IN_EXAMPLE, MAIN, NOT_INSTALLED, FakeSource, failed, pages, passed, selection
from triage.reproduce.evidence import Change, Evidence, Execution, Expected, FailurePlace, Selection
from triage.reproduce.render_evidence import ask_reporter, dump_evidence, render_evidence
from triage.reproduce.runner.read_record import GONE
from triage.reproduce.verdict import choose_measure, decide_verdict, summarize

MOVED = FailurePlace(path="shop/cart.py", line=31, function="total")
CHANGE = Change(release="2.4.0", before="2.3.0", commit="9f8e7d6" + "0" * 33, subject="Stack *without* copies (#812)")
GAP = CHANGE.model_copy(update={"gap": ["2.3.1", "2.3.2"], "gap_reason": "could not be installed: no wheel of <b>"})
UNDEFINED = failed("NameError: Fixed in [3.0](http://evil.test), @octocat", IN_EXAMPLE)
HOSTILE = "ValueError: `| <img src=x> | ](http://evil.test) @octocat ghp_012345678901234567890123456789abcdef #1"


def build(
    expected: Expected | None,
    named: Execution,
    main: Execution,
    change: Change | None = None,
    other_times: Sequence[Execution] = (),
) -> tuple[Selection, Evidence]:
    """`other_times` is how main ended after the first time; each version the same twice without it."""
    chosen = selection(expected)
    executions = [[named, named], [main, *(other_times or [main])]]
    measure = choose_measure([named, main], chosen.expected)
    runs = [
        summarize(one.on, group, chosen.expected, measure).model_copy(
            update={"commit": one.commit, "time": "2022-03-01"}
        )
        for one, group in zip(chosen.targets, executions, strict=True)
    ]
    verdict = decide_verdict(chosen, runs, measure)
    return chosen, Evidence(
        verdict=verdict,
        measure=measure,
        runs=runs,
        first_bad=None if verdict == "fixed" else change,
        first_good=change if verdict == "fixed" else None,
    )


CASES = {
    "still": build(None, failed(), failed("ValueError: no items", MOVED), CHANGE),
    "fixed": build(None, failed(), passed("0\n"), CHANGE.model_copy(update={"release": ""})),
    "gap": build(None, failed(), passed("0\n"), GAP),
    "newer": build(None, passed(), failed(), CHANGE),
    "not_reproduced": build(None, passed("1\n"), passed("1\n")),
    "other_failure": build(None, failed(), failed("KeyError: 3")),
    "gone": build(None, failed(), failed("TypeError: shop.total is not a function", IN_EXAMPLE, reason=GONE)),
    "could_not_install": build(None, NOT_INSTALLED, passed()),
    "could_not_run": build(None, failed("ConnectionError: no"), failed("ConnectionError: no")),
    "failed_before": build(None, UNDEFINED, UNDEFINED),
    "mixed": build(None, failed(), failed(), other_times=[passed("0\n"), failed(), passed("0\n"), failed()]),
    "output": build(Expected(shown=[["[1, nan]"]]), passed("[1, nan]\n"), passed("[1, 2]\n")),
    "difference": build(Expected(), passed("1\n"), passed("2\n")),
    "hostile": build(None, failed(HOSTILE), passed("```\n</details>\n# Fixed @octocat\n" + HOSTILE)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_block_reads_as_in_its_golden_file(golden, name):
    golden(f"tests/golden/reproduce_{name}.md", render_evidence(*CASES[name], pages()))


def test_nobody_is_asked_about_the_first_release_behind_a_gap():
    for change, is_asked in ((CHANGE, True), (GAP, False)):
        _, evidence = build(None, failed(), passed("0\n"), change)
        assert bool(ask_reporter(evidence, "en")) is is_asked


@each_row(
    ("missing", "commit", "sentence"),
    [
        ("2.4.1", "1" * 40, "No tag: commit `1111111`, whose files say `2.4.1`."),
        ("2.4.2", "", "The report names `2.4.2`, which has no tag: `2.4.1` stands in for it."),
        ("0.9", "", "The report names `0.9`, which has no tag: `2.4.1` stands in for it."),
        ("2.4.1", "", ""),  # its own package
        ("", "", ""),
    ],
)
def test_what_is_run_for_a_version_without_a_tag_is_said(missing, commit, sentence):
    chosen, evidence = build(None, failed(), failed())
    first = evidence.runs[0].model_copy(update={"commit": commit})
    evidence = evidence.model_copy(update={"runs": [first, *evidence.runs[1:]]})
    text = render_evidence(chosen.model_copy(update={"missing": missing}), evidence, pages())
    assert sentence in text
    assert ("no tag" in text.lower() or "every tag" in text) is bool(sentence)


def test_where_main_cannot_be_installed_no_version_is_compared_with_another():
    chosen, evidence = build(Expected(), passed("1\n"), passed("1\n"))
    named, main = evidence.runs
    runs = [named, main.model_copy(update={"outcome": "could-not-install"}), named]
    text = render_evidence(chosen, evidence.model_copy(update={"runs": runs}), pages())
    assert text.startswith("**The example runs. A person must say whether it is right.**")


def test_where_nothing_newer_than_the_named_version_ran_it_is_not_said_that_it_still_happens():
    chosen, evidence = build(None, failed(), failed())
    named, main = evidence.runs
    runs = [named, main.model_copy(update={"outcome": "could-not-install"}), named]
    assert render_evidence(chosen, evidence.model_copy(update={"runs": runs}), pages()).startswith(
        "**Happens on `2.4.1`.**"
    )
    assert render_evidence(chosen, evidence.model_copy(update={"runs": [named]}), pages()).startswith("**Still happens")
    for other in ({"outcome": "could-not-install"}, {"reason": GONE}):
        found = evidence.model_copy(update={"runs": [named.model_copy(update=other), main]})
        assert render_evidence(chosen, found, pages()).startswith("**Happens on `main`")


def test_what_several_versions_do_not_have_is_said():
    gone = failed("TypeError: shop.total is not a function", IN_EXAMPLE, reason=GONE)
    assert "`2.4.1` and `main` (`1a2b3c4`) do not have" in render_evidence(*build(None, gone, gone), pages())


def test_where_only_tags_were_tried_the_setting_for_the_registry_is_named():
    chosen, evidence = build(None, NOT_INSTALLED, NOT_INSTALLED)
    tags = evidence.model_copy(update={"runs": [one.model_copy(update={"commit": "1" * 40}) for one in evidence.runs]})
    assert "<summary>The example</summary>" in render_evidence(chosen, evidence, pages())
    for found, is_named in ((evidence, False), (tags, True)):
        assert ("set reproduce: package:" in render_evidence(chosen, found, pages())) is is_named


def test_the_json_has_what_later_steps_read():
    found = json.loads(dump_evidence(*CASES["still"], pages()))
    assert found["verdict"] == "still"
    assert set(found["example"]) == {"language", "code", "changed"}
    assert found["runs"][1] == {
        "on": "main",
        "commit": MAIN.commit,
        "outcome": "failed",
        "reason": "",
        "runtime": "Python 3.9.18",
        "error": "ValueError: no items",
        "place": {"path": "src/shop/cart.py", "line": 31},
        "executed": ["src/shop/cart.py"],
        "output": "",
        "repeats": 2,
        "failures": 2,
        "same_failure": True,
    }
    assert found["first_bad"]["release"] == "2.4.0"
    assert found["first_good"] is None


def test_a_path_that_two_files_end_in_is_not_known(monkeypatch):
    for paths, found in (([], "src/shop/cart.py"), (["old/shop/cart.py"], ""), (["shop/cart.py"], "shop/cart.py")):
        monkeypatch.setattr(FakeSource, "FILES", {"src/shop/cart.py": ""} | dict.fromkeys(paths, ""))
        assert pages().find_path("shop/cart.py") == found


def test_what_an_example_of_the_command_shows_is_not_ascribed_to_the_report():
    for name in ("still", "fixed", "other_failure", "output", "difference"):
        text = render_evidence(*CASES[name], pages(), is_own=True)
        assert "report" not in text
    assert "but with an error that the command does not show" in render_evidence(
        *build(Expected(), failed("KeyError: 3"), failed("KeyError: 3")), pages(), is_own=True
    )


@each_row(
    ("expected", "output", "sentence"),
    [
        (Expected(shown=[["[3]"]]), "[1]", "Not reproduced: neither `2.4.1` nor `main` (`1a2b3c4`) prints here what the report shows."),
        (Expected(named=["[3]"], wished=["[1]"]), "[1]", "The example prints on `main` (`1a2b3c4`) what the report wishes, or shows of another version."),
        (Expected(named=["[3]"]), "[1]", "The example runs, with the same result on each version. A person must say whether it is right."),
    ],
)  # fmt: skip
def test_what_is_said_of_an_output_that_no_version_prints(expected, output, sentence):
    chosen, evidence = build(expected, passed(output), passed(output))
    verdict = decide_verdict(chosen, evidence.runs, evidence.measure)
    text = render_evidence(chosen, evidence.model_copy(update={"verdict": verdict}), pages())
    assert text.startswith(f"**{sentence}**")


def test_a_line_that_the_file_does_not_have_and_an_unknown_commit_are_not_linked():
    far = FailurePlace(path="shop/cart.py", line=41, function="total")
    text = render_evidence(*build(None, failed(), failed("ValueError: no items", far), CHANGE), pages())
    assert "| `src/shop/cart.py:41`, `total` |" in text
    unknown = CHANGE.model_copy(update={"commit": "8" * 40})
    text = render_evidence(*build(None, failed(), failed(), unknown), pages())
    assert "First release with it: `2.4.0`.\n" in text
    assert "first commit" not in text


def test_an_error_that_took_the_place_of_an_output_is_no_other_error():
    chosen, evidence = build(Expected(shown=[["[1, nan]"]]), passed("[1, nan]\n"), failed("KeyError: 3"))
    text = render_evidence(chosen, evidence, pages())
    assert text.startswith(
        "**Fails on `main` (`1a2b3c4`), but with an error that the report does not show outside of the example.**"
    )
