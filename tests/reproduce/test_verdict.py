"""The table of verdicts: what the named version does, what main does, and what may be said about it."""

from typing import Any

from testing.each_row import each_row
from tests.reproduce.runs import IN_EXAMPLE, NOT_INSTALLED, failed, failure, passed, selection
from triage.reproduce.evidence import Execution, Expected, Measure, Verdict
from triage.reproduce.runner.read_record import GONE
from triage.reproduce.verdict import choose_measure, decide_verdict, is_same_everywhere, summarize

SHOWN = Expected(errors=[failure()])
TWO = Expected(errors=[failure(), failure("KeyError: 1")])
NAMED = Expected(claims="It raises a `ValueError`.")
OUTPUT = Expected(shown=[["[1, nan]"]])
WISHED = Expected(shown=[["[1, nan]"]], wished=["[1, 2]"])
TWICE = Expected(shown=[["one"], ["two"]])
HANGS = Expected(claims="It hangs.")
FAILS = Expected(report="The test fails.")
SAID = Expected(report="It gives the error `no item is there`.")
COMMENTED = Expected(commented=["[1, 2]"])
NOTHING = Expected()
TYPED = Expected(
    errors=[failure("TypeError: no call")],
    in_session=["TypeError"],
    report="Invalid: not a cart\nTypeError: no call",
)
AT_PROMPT = Execution(outcome="failed", failures=[failure("Invalid: not a cart"), failure("TypeError: no call")])
OTHER = failed("KeyError: 3")
MISSING = failed("ModuleNotFoundError: No module named 'dask'")
IS_GONE = failed("ImportError: cannot import name 'total' from 'shop'", IN_EXAMPLE, reason=GONE)
CUT = passed("(shape (0, 1), shape (0, 2)\nIntercept\n0)")
LATE = Execution(outcome="timed-out", reason="late")
ASSERT = failed("AssertionError", IN_EXAMPLE)
WRONG = passed("[1, nan]")
RIGHT = passed("[1, 2]")


def judge(expected: Expected, *versions: Any, **changes: Any) -> tuple[Verdict, Measure]:
    chosen = selection(expected, **changes)
    runs = [[one, one] if isinstance(one, Execution) else list(one) for one in versions]
    measure = choose_measure([one for group in runs for one in group], expected)
    return decide_verdict(chosen, [summarize("x", group, expected, measure) for group in runs], measure), measure


@each_row(
    ("expected", "named", "main", "verdict"),
    [
        (SHOWN, failed(), failed(), "still"),
        (
            Expected(shown=[["'2026-01-07'"]]),
            passed("2026-01-08"),
            passed("2026-01-08"),
            "nothing-to-compare",
        ),  # a zone
        (
            Expected(shown=[["2026-01-07T07:00:00.000Z"]]),
            *2 * [passed("2026-01-07T06:00:00.000Z")],
            "nothing-to-compare",
        ),
        (Expected(shown=[["'Jan 2026-01'"]]), passed("2026-01-08"), passed("2026-01-08"), "not-reproduced"),
        (SHOWN, failed(), passed(), "fixed"),
        (SHOWN, passed(), failed(), "newer"),
        (SHOWN, OTHER, failed(), "still"),  # nobody knows whether the version before has it
        (TWO, failed(), failed(), "still"),
        (TWO, failed(), passed(), "nothing-to-compare"),  # nobody has seen the other error
        (SHOWN, passed(), passed(), "not-reproduced"),
        (SHOWN, failed(), OTHER, "other-failure"),
        (SHOWN, passed("caught ValueError: no items"), passed("caught ValueError: no items"), "still"),
        (SHOWN, passed("caught ValueError: no items"), passed(""), "fixed"),
        (Expected(errors=[failure("ValueError: no items,")]), passed("[ValueError: no items]"), passed(""), "fixed"),
        (SHOWN, OTHER, OTHER, "other-failure"),
        (SHOWN, OTHER, passed(), "other-failure"),
        (SHOWN, NOT_INSTALLED, failed(), "still"),
        (SHOWN, NOT_INSTALLED, passed(), "could-not-install"),
        (SHOWN, failed(), NOT_INSTALLED, "could-not-install"),
        (SHOWN, failed(), MISSING, "could-not-run"),
        (SHOWN, MISSING, MISSING, "could-not-run"),
        (SHOWN, LATE, LATE, "could-not-run"),
        (HANGS, LATE, LATE, "still"),
        (Expected(claims="A frozen dataclass is stuck at an infinite value."), LATE, LATE, "could-not-run"),
        (Expected(claims="`object.freeze({})` fails. Please hang tight."), LATE, LATE, "could-not-run"),
        (Expected(claims="Make shop.hang(1) not freeze."), LATE, LATE, "could-not-run"),
        (HANGS, LATE, passed(), "fixed"),
        (Expected(claims="This causes my computer to lock up"), LATE, passed(), "fixed"),
        (HANGS, passed(), passed(), "nothing-to-compare"),
        (SAID, *2 * [failed("CartError: no item is there")], "still"),
        (SAID, passed(), passed(), "nothing-to-compare"),  # the words may be the code that it is about
        (NAMED, failed(), failed(), "still"),
        (NAMED, failed(), passed(), "fixed"),
        (NAMED, passed(), passed(), "nothing-to-compare"),
        (NOTHING, failed(), failed(), "other-failure"),
        (NOTHING, failed(), passed(), "other-failure"),
        (NOTHING, passed("1"), passed("2"), "nothing-to-compare"),
        (NOTHING, passed(), failed(), "nothing-to-compare"),  # it may be what the report asks for
        (NOTHING, passed(), IS_GONE, "other-failure"),
        (SHOWN, failed(), IS_GONE, "other-failure"),
        (SHOWN, IS_GONE, IS_GONE, "other-failure"),
        (Expected(named=["3"]), passed("1\n"), passed("1\n"), "not-reproduced"),
        (Expected(named=["3"]), passed("[3]\n"), passed("[3]\n"), "nothing-to-compare"),
        (Expected(named=["3"]), passed("1\n"), failed(), "other-failure"),
        (Expected(named=["the wrong total"]), passed("1\n"), passed("1\n"), "nothing-to-compare"),  # a remark
        (
            Expected(shown=[["Fri Oct 24 2014 23:00:00 GMT+0200"]]),
            *2 * [passed("2014-10-24T21:00:00Z\n")],
            "nothing-to-compare",
        ),
        # What it prints is shown: another program raises the error.
        (
            Expected(errors=[failure()], claims="Wrong query\nSELECT 1"),
            *2 * [passed("SELECT 1\n")],
            "nothing-to-compare",
        ),
        (Expected(named=["33\n44\n55"]), passed("33\n55\n66\n"), passed("33\n55\n66\n"), "nothing-to-compare"),
        (Expected(named=["33\n44\n55"]), passed("11\n44\n66\n"), passed("11\n44\n66\n"), "not-reproduced"),
        (Expected(named=["33 in all\n44\n55"]), passed("11\n44\n66\n"), passed("11\n44\n66\n"), "nothing-to-compare"),
        # A prompt does not print `None`.
        (Expected(shown=[["None"]]), passed(""), passed(""), "nothing-to-compare"),
        # All else is the same.
        (Expected(shown=[["start"]], wished=["end"]), passed("1\nstart\n2"), passed("1\nend\n2"), "fixed"),
        (Expected(shown=[["start"]], wished=["end"]), passed("1\nstart\n2"), passed("1\nend\n3"), "changed"),
        # At a prompt an error may be right, and the fault another one.
        (TYPED, AT_PROMPT, AT_PROMPT, "still"),
        (TYPED, AT_PROMPT, failed("Invalid: not a cart"), "other-failure"),
        (TYPED, failed("Invalid: not a cart"), failed("Invalid: not a cart"), "not-reproduced"),
        (Expected(shown=[["[1, nan]"]]), passed("[2, 3]\n"), failed(), "other-failure"),
        (Expected(named=["3"]), passed("1\n2\n"), passed("1\n2\n"), "nothing-to-compare"),
        (Expected(shown=[["shape (0, 2)", "Intercept 0"]]), CUT, CUT, "nothing-to-compare"),
        (Expected(shown=[["shape (0, 2)", "Intercept", "0"]]), CUT, CUT, "still"),  # an element of it
        (Expected(shown=[["[", "  1,", "]"]]), passed("[1,]"), passed("[1,]"), "still"),
        (FAILS, ASSERT, ASSERT, "still"),
        (FAILS, ASSERT, passed(), "fixed"),
        (NOTHING, ASSERT, ASSERT, "other-failure"),  # it may state the fault
        (Expected(report="I pass a list. It is passed to f."), ASSERT, ASSERT, "other-failure"),
        (Expected(report="With 1.0 the test passed."), ASSERT, ASSERT, "still"),
        (OUTPUT, WRONG, WRONG, "still"),
        (OUTPUT, WRONG, RIGHT, "changed"),
        (OUTPUT, WRONG, passed("[1,  nan] "), "nothing-to-compare"),  # the fault may be a blank
        (OUTPUT, NOT_INSTALLED, WRONG, "still"),
        (WISHED, NOT_INSTALLED, WRONG, "still"),
        (OUTPUT, NOT_INSTALLED, RIGHT, "could-not-install"),
        (OUTPUT, IS_GONE, WRONG, "still"),
        (WISHED, IS_GONE, RIGHT, "other-failure"),
        (OUTPUT, RIGHT, WRONG, "nothing-to-compare"),  # what the report shows may be what it expects
        (OUTPUT, RIGHT, RIGHT, "not-reproduced"),
        (OUTPUT, passed(""), passed(""), "nothing-to-compare"),  # it prints nothing that could be compared
        (OUTPUT, [passed("1"), passed("2")], [passed("3"), passed("4")], "nothing-to-compare"),
        (WISHED, RIGHT, RIGHT, "not-reproduced"),
        (WISHED, WRONG, RIGHT, "fixed"),
        (COMMENTED, RIGHT, RIGHT, "nothing-to-compare"),  # it may be the fault, or the wish
        (COMMENTED, WRONG, WRONG, "nothing-to-compare"),
        (COMMENTED, RIGHT, WRONG, "changed"),
        (Expected(named=["3"], commented=["1"]), passed("1\n"), passed("1\n"), "nothing-to-compare"),
        (
            Expected(shown=[["one", "two"]], wished=["two"]),
            passed("one\ntwo"),
            passed("one\ntwo"),
            "nothing-to-compare",
        ),
        (Expected(named=["False"]), passed("False"), passed("True"), "changed"),
        (Expected(named=["False"]), passed("False"), passed("False"), "still"),
        (
            Expected(named=["False"]),
            passed("False\n1"),
            passed("False\n1"),
            "nothing-to-compare",
        ),  # printed beside the fault
        (Expected(report="LC_ALL: None"), passed("None"), passed("1"), "nothing-to-compare"),
        (WISHED, WRONG, passed("[1, 2]\nx"), "changed"),  # not only what is wished
        (SHOWN, passed("MyValueError: no items"), passed(""), "not-reproduced"),
        (Expected(named=["False"]), passed("1"), passed("1"), "nothing-to-compare"),  # of something else, maybe
        (
            Expected(shown=[["'a  b'"]]),
            passed("'a  b'"),
            passed("'a b'"),
            "changed",
        ),  # blanks of a string are its value
        (Expected(shown=[["1"]]), passed("1"), passed("1"), "still"),
        (Expected(shown=[["1"]]), passed("1\n2"), passed("1\n2"), "nothing-to-compare"),  # much prints `1`
        (TWICE, passed("one"), passed("two"), "nothing-to-compare"),  # nobody knows which one is the fault
        (TWICE, passed("one\ntwo"), passed("one"), "changed"),
        (TWICE, passed("one\ntwo"), passed("one\ntwo"), "still"),
        (TWICE, passed("one"), passed("one"), "nothing-to-compare"),
        (TWICE, passed("three"), passed("three"), "not-reproduced"),
        (Expected(shown=[["start", "three", "end"]]), passed("three"), passed("three"), "nothing-to-compare"),
        (SHOWN, (failed(), passed(), failed(), failed(), passed()), failed(), "mixed"),
    ],
)
def test_the_verdict_of_two_versions(expected, named, main, verdict):
    assert judge(expected, named, main)[0] == verdict


def test_a_missing_module_that_the_report_shows_is_its_failure():
    expected = Expected(errors=[failure("ModuleNotFoundError: No module named 'dask'")])
    assert judge(expected, MISSING, passed()) == ("fixed", "error")


def test_a_version_that_could_not_be_run_is_no_difference():
    runs = [summarize("x", [one], NOTHING, "difference") for one in (RIGHT, NOT_INSTALLED, RIGHT)]
    assert is_same_everywhere(runs)


def test_at_a_prompt_the_error_that_counts_is_the_recognized_one():
    assert summarize("x", [AT_PROMPT], TYPED, "error").error == "TypeError: no call"


def test_a_wish_has_no_verdict():
    assert judge(SHOWN, failed(), failed(), is_feature=True)[0] == "nothing-to-compare"


def test_the_failure_that_the_report_shows_counts_among_several():
    session = Execution(outcome="failed", failures=[failure("KeyError: 1"), failure()])
    assert judge(SHOWN, session, session)[0] == "still"


@each_row(
    ("expected", "execution", "measure"),
    [(SHOWN, passed(), "error"), (NAMED, failed(), "error"), (NAMED, RIGHT, "difference"), (FAILS, ASSERT, "assert"), (NOTHING, ASSERT, "difference"), (OUTPUT, WRONG, "output"), (OUTPUT, RIGHT, "difference")],
)  # fmt: skip
def test_the_first_measure_that_a_run_shows_is_taken(expected, execution, measure):
    assert choose_measure([execution], expected) == measure
