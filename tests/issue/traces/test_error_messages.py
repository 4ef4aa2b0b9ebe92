"""The error that can be quoted as it stands."""

from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.issue.read_issue import read_issue
from triage.issue.traces.error_messages import find_symptom, is_whole


def symptom_of(title: str, body: str) -> str | None:
    found = find_symptom(read_issue(Issue(title=title, body=body)))
    return found.text if found else None


TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\n{}'


@each_row(
    ("body", "symptom"),
    [
        (TRACE.format("ZeroDivisionError: float division by zero"), "ZeroDivisionError: float division by zero"),
        ("```\nerror: cannot open file 'a.txt'\n```", "error: cannot open file 'a.txt'"),
        ("### Error message\n\nCannot add node 1 to the store.", "Cannot add node 1 to the store."),
        ("```\nAborted (core dumped)\n```", "Aborted (core dumped)"),
        (TRACE.format("FileNotFoundError: FileNotFoundError"), None),
        (TRACE.format("FileNotFoundError: no file /home/ann/Dropbox/x.txt"), None),
        ("```\n2022-10-03T03:19:42Z error: cannot open the file\n```", "error: cannot open the file"),
        (TRACE.format("KeyError"), None),
        ("When I click it I get TypeError: x is not a function and nothing else happens", None),
        ("I get `TypeError: x is not a function` and nothing else", "TypeError: x is not a function"),
        ("Unhandled rejection CartError: no total of it", "CartError: no total of it"),
        ("```\nerror[E0382]: use of moved value: `x`\n```", "error[E0382]: use of moved value: `x`"),
        ("```\nAssertion `a || b' failed.\n```", "Assertion `a || b' failed."),
        ("TypeError: Invalid total. Got nil (TypeError)", "TypeError: Invalid total. Got nil"),
        ("```\na.rb:3:in 'total': price is nil (Shop::PriceError)\n```", "price is nil (Shop::PriceError)"),
        ("```\nerror: aborting due to previous error\n```", None),
        ("```\nmake[1]: *** [all] Error 2\n```", None),
        ("```\nthread 'main' panicked at 'explicit panic', src/lib.rs:253:5\n```", None),
        ("```\nerror: cannot open \x1b[31ma.txt\x1b[0m\n```", "error: cannot open a.txt"),
        ("```\nbob@host:~$ cannot open the cart\n```", None),
        ('```\nlog(WARN, "cannot open the cart: error");\n```', None),
        ("They are known as `cart` program error signals of the `shop` here.", None),
        ("```\nsrc/x.py:12:0: E1101: no member 'a' here\n```", None),
        ("```\n12:31:50 failure: cannot read manufacturer\n```", None),
        ("When it starts it cannot find module 'x' in there", None),
        ("Nothing is printed.", None),
    ],
)
def test_a_symptom_is_whole_or_none(body: str, symptom: str | None) -> None:
    assert symptom_of("Total is off", body) == symptom


def test_the_title_is_not_repeated() -> None:
    body = TRACE.format("TypeError: unsupported operand")
    assert symptom_of("Cart.total() raises TypeError: unsupported operand", body) is None
    assert symptom_of("Unsupported operand", body) == "TypeError: unsupported operand"


@each_row(
    "message",
    ["core dumped)", "an error, raised in", "Error: opened (", "x", "a wrong value of it",
     "Error: cannot read ~/Dropbox/a.txt", "error: the file and", "$ shop: cannot open it",
     "[31mError: cannot open it[39m", "error: no such `cart"],
)  # fmt: skip
def test_fragments_are_not_whole(message: str) -> None:
    assert not is_whole(message)
