from testing.each_row import each_row
from tests.reproduce.runs import IN_EXAMPLE, IN_NUMPY, IN_SHOP, failure
from triage.domain.issue import Issue
from triage.read.read_issue import read_issue
from triage.reproduce.evidence import Expected, FailurePlace
from triage.reproduce.example.example import Example
from triage.reproduce.expected import (
    find_expected,
    has_parts,
    is_named_error,
    is_same_message,
    is_shown_error,
    prints_only,
    says_failing,
    shows_output,
    stem,
)

EXAMPLE = Example(language="python", code="x\n", shown=[["1"]])
TRACE = 'Traceback (most recent call last):\n  File "shop/cart.py", line 9, in total\n    x\nshop.errors.CartError: no items\n'


def read(body: str, title: str = "It fails") -> Expected:
    return find_expected(read_issue(Issue(title=title, body=body)), EXAMPLE)


@each_row(
    ("body", "errors", "claims"),
    [
        (f"```\n{TRACE}```", [("CartError", "no items")], ""),
        ("```\nf()\nValueError: no items\n```", [("ValueError", "no items")], ""),
        ("```\nError: no items\n```", [], ""),
        ("It raises a `ValueError`.", [], "It raises a `ValueError`."),
        ("It gives the error `no item is in the cart`.", [], "It gives the error `no item is in the cart`."),
        ("Since 2.0 no longer an error for `a bad value of x`.", [], "Since 2.0"),
        ("It hangs without any error in `while x, y do z end`.", [], "It hangs"),
        ("It does not work and throws a `ValueError`.", [], "It does not work and throws a `ValueError`."),
        ("It doesn't raise a `ValueError`, but a `KeyError`.", [], "It does, but a `KeyError`."),
        ("It throws `ValueError: no items`.", [("ValueError", "no items")], "It throws `ValueError: no items`."),
        ("It should raise a ValueError.", [], ""),
        ("It raises KeyError instead of ValueError.", [], ""),
        ("It returns 1. I expected a ValueError.", [], "It returns 1."),
    ],
)
def test_what_a_report_says_that_happens(body, errors, claims):
    found = read(body)
    assert [(one.type, one.message) for one in found.errors] == errors
    assert found.claims == f"It fails\n{claims}".strip()
    assert found.shown == [["1"]]


@each_row(
    ("title", "is_shown"),
    [("got 2 items instead of 3 in all", True), ("It should raise: got 1 items instead of 2 in all", False)],
)
def test_a_title_that_is_a_message_is_no_wish(title, is_shown):
    assert is_shown_error(failure("Error: got 1 items instead of 2 in all"), read("", title)) == is_shown


def test_errors_of_python_2_have_the_names_of_today():
    found = read('```\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nIOError: no file of 1 bit\n```')
    assert found.errors[0].type == "OSError"
    assert is_shown_error(failure("OSError: no file of 2 bits"), found)


def test_the_errors_at_prompts_are_known():
    typed = "```\n>>> f()\nCartError: no items\n```\nBut the script has\n```\nKeyError: no key\n```"
    parsed = read_issue(Issue(title="It fails", body=typed))
    is_typed = Example(language="python", code="f()\n", is_session=True)
    assert find_expected(parsed, is_typed).in_session == ["CartError"]
    assert find_expected(parsed, EXAMPLE).in_session == []


@each_row(
    ("body", "error", "is_shown"),
    [
        ("```\nshop.errors.Invalid: not a value @ a[2]\n```", "Invalid: not a value @ a[1]", True),
        ("It says `Invalid: not a value`.", "Invalid: not a value", True),
        ("It says `Invalid: not a value`.", "NotInvalid: not a value", False),
        ("It says `NotInvalid: not a value`.", "Invalid: not a value", False),
        ("It should say `Invalid: not a value`.", "Invalid: not a value", False),
        ("It says Invalid.", "Invalid", False),
        ('I get "No day 31".', "Error: No day 32", True),
        ('I get "No day 31".', "Failure: No day 31", False),
        ("I get 'No day of the month'.", "Failure: No day of the month", True),
        ("This ends it:\n\nOut of memory, and all is dead", "SIGTRAP: out of memory", True),
        ("I get `Other: No day of the month`.", "Failure: No day of the month", False),
        # The last line of an IPython trace is often cut off.
        ("```\nCartError        Traceback (most recent call last)\n<ipython-input-9-9> in <module>\n```", "CartError: no", True),
        # What the example says of itself.
        ("```\nf()  # ValueError: no items\n```", "ValueError: no items", False),
        ("```\n>>> f()  # ValueError: no items\n```", "ValueError: no items", False),
    ],
)  # fmt: skip
def test_an_error_that_stands_in_the_report_is_the_reported_one(body, error, is_shown):
    example = Example(language="python", code="f()  # ValueError: no items\n")
    expected = find_expected(read_issue(Issue(title="It fails", body=body)), example)
    assert expected.errors == []
    assert is_shown_error(failure(error), expected) == is_shown


@each_row(
    ("one", "other", "is_same"),
    [
        ("axis 2 is out of bounds", "axis 3 is out of bounds", True),
        ("<Cart at 0x7f01> is empty", "<Cart at 0x55aa> is empty", True),
        ("cannot read '/home/me/a/b.csv'", 'cannot read "/tmp/x/b.csv"', True),
        ("f() got an unexpected keyword argument 'a'", "Cart.f() got an unexpected keyword argument 'a'", True),
        ("no items", "no items: use add()", True),
        ("no items", "no prices", False),
        ("x", "xylophone", False),
        ("cannot add a cart to a list", "cannot take the total of nothing", False),
    ],
)
def test_messages_are_compared_by_their_stems(one, other, is_same):
    assert is_same_message(one, other) == is_same


def test_a_stem_has_no_numbers_addresses_paths_and_quotes():
    assert stem("Line 3 of '/a/b/c.py' at 0xAB: 1.5 \n is `bad`") == "line # of / at #: # is bad"


@each_row(
    ("found", "shown", "is_same"),
    [
        (failure("ValueError: no items"), failure("ValueError: no items"), True),
        (failure("KeyError: no items"), failure("ValueError: no items"), False),
        (failure("ValueError: another text"), failure("ValueError: no items"), False),
        (failure("ValueError: another text", FailurePlace(path="shop/x.py", line=1, function="pay")), failure("ValueError: no items"), False),
        (failure("ValueError: text"), failure("ValueError"), True),
        (failure("ValueError: other", IN_EXAMPLE), failure("ValueError: no items", IN_EXAMPLE), False),
    ],
)  # fmt: skip
def test_an_error_is_the_one_that_the_report_shows(found, shown, is_same):
    assert is_shown_error(found, Expected(errors=[shown])) == is_same


def test_a_named_type_counts_where_the_project_raised_it():
    expected = Expected(claims="It raises a `ValueError`.")
    assert is_named_error(failure("ValueError: x", IN_SHOP), expected)
    assert not is_named_error(failure("ValueError: x", IN_NUMPY), expected)
    assert not is_named_error(failure("KeyError: x", IN_SHOP), expected)


@each_row(
    ("output", "shown", "is_shown"),
    [
        ("a\n1\nb\n2\n", ["1", "2"], True),
        ("2\n1\n", ["1", "2"], False),
        ("array([1,\n   2])\n", ["array([1, 2])"], True),
        ("<A at 0x1>", ["<A at 0x2>"], True),
        ("-a*t + a/2\n", ["-a*t"], False),
        ("2 -a*t\n", ["-a*t"], False),
        ("1", [], False),
        ("'a b'\n['c']\n", ["u'a b'", "[u'c']"], True),  # of Python 2
        (
            "<module 'env/lib/python3.12/site-packages/a.py'>",
            ["<module '/home/me/lib/python3.9/site-packages/a.py'>"],
            True,
        ),
    ],
)
def test_everything_that_the_report_shows_must_be_printed_in_order(output, shown, is_shown):
    assert has_parts(output, shown) == is_shown


@each_row(
    ("output", "shown", "is_shown"),
    [
        ("'1 m'\n", ["1 m"], True),
        ("'1 m'\n2\n", ["1 m", "2"], False),
        ("1\n2\n", ["1"], False),
        ("'1'\n", ["1"], True),
        ("'1'\n", ['"1"'], True),
        ("'1 m'\n", ['"1 m"'], True),
        ("'1m'\n", ['"1 m"'], False),
        ("['a b']\n", ["['ab']"], False),
        ("{ x: 'a b' }\n", ["{x: 'ab'}"], False),
        ("x = 'a b'\n", ["x = 'ab'"], False),
        ('"it\'s a b"\n', ['"it\'s ab"'], False),
        ("array(['a',   'b c'])\n", ["array(['a', 'b c'])"], True),
        ("['a b c',\n 'd']\n", ["['a b", " c', 'd']"], True),  # wrapped by a terminal
        ("don't stop,  it's 'a b'\n", ["don't stop, it's 'a b'"], True),
        ("{'a': 1}\n", ['{"a": 1}'], False),  # of Python, no JSON
        ("total: 123\n", ["123"], True),  # behind a label
        ("=> 1\n", ["1"], True),
        ("wished: 123\ntotal: 4\n", ["123"], False),
        ("{a: 123}\n", ["123"], False),
    ],
)
def test_one_value_may_be_that_of_a_string_and_a_short_one_is_all_that_is_printed(output, shown, is_shown):
    assert shows_output(output, shown) == is_shown


def test_a_value_is_all_that_is_printed_up_to_the_padding_of_an_object():
    assert prints_only("{ a: 'b c' }\n", "{a: 'b c'}")
    for output, value in (("{ a: 'b c' }\n", "{a: 'bc'}"), ("{ a: 1 }\n2\n", "{a: 1}"), ("1 2\n", "12")):
        assert not prints_only(output, value)


@each_row(
    ("remark", "is_failing"),
    [("fails", True), (" AssertionError!", True), ("should not fail", False), ("fails on 1.2 alone", False)],
)
def test_an_assert_that_is_marked_as_failing_says_so(remark, is_failing):
    code = EXAMPLE.model_copy(update={"code": f"import shop\nassert shop.f() == 1  # {remark}\n"})
    parsed = read_issue(Issue(title="Totals", body="Look at this."))
    assert says_failing(find_expected(parsed, code)) == is_failing
