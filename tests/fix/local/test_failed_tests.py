"""Names of failed tests in what real runners print, and commands that run a few files."""

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from triage.fix.local.failed_tests import limit_command, list_failed_tests


@each_row(
    ("printed", "names"),
    [
        (
            (
                "FAILED tests/test_a.py::T::test_b[x - y] - assert 1 == 2\nERROR tests/test_c.py - ImportError: no\n"
                "ERROR tests/test_d.py\n1 failed, 2 errors in 0.12s"
            ),
            ["tests/test_a.py::T::test_b[x - y]", "tests/test_c.py", "tests/test_d.py"],
        ),
        (
            "FAIL: test_a (tests.test_cart.Totals.test_a)\nERROR: test_b (tests.test_cart.Totals) (i=3)\nFAILED (errors=1)",
            ["test_a (tests.test_cart.Totals.test_a)", "test_b (tests.test_cart.Totals) (i=3)"],
        ),
        ("ERROR: Could not open (tmp/x y)\nERROR    root:a.py:3 boom", []),
        (
            "--- FAIL: TestTotal (0.02s)\n    --- FAIL: TestTotal/empty (0.00s)\nFAIL\nFAIL\texample.com/cart\t0.013s",
            ["TestTotal", "TestTotal/empty", "example.com/cart"],
        ),
        ("test cart::tests::empty ... FAILED\ntest cart::tests::one ... ok", ["cart::tests::empty"]),
        (
            "FAIL src/cart.test.js\n  ● Console\n  ● cart › is empty\n\n    expect(received)\n    ✕ is empty (3 ms)",
            ["cart › is empty", "is empty", "src/cart.test.js"],
        ),
        (
            " FAIL  test/cart.test.ts > cart > is empty\n   × is empty 12ms",
            ["is empty", "test/cart.test.ts > cart > is empty"],
        ),
        ("✖ adds numbers (1.2ms)\nnot ok 2 - is empty", ["adds numbers", "is empty"]),
        (
            (
                "[ERROR] com.x.CartTest.isEmpty -- Time elapsed: 0.01 s <<< FAILURE!\n"
                "[ERROR] isFull(com.x.CartTest)  Time elapsed: 0.01 s  <<< ERROR!"
            ),
            ["com.x.CartTest.isEmpty", "isFull(com.x.CartTest)"],
        ),
        ("CartTest > isEmpty() FAILED\n    java.lang.AssertionError", ["CartTest > isEmpty()"]),
        ("rspec ./spec/cart_spec.rb:3 # Cart is empty", ["Cart is empty"]),
        ("1) App\\CartTest::testEmpty with data set #0 (1)\n", ["App\\CartTest::testEmpty with data set #0 (1)"]),
        (
            "  1 failing\n\n  1) cart\n       totals\n         is empty:\n     AssertionError [ERR]:\n",
            ["cart totals is empty"],
        ),
        ("Traceback (most recent call last):\nAssertionError: boom", []),
    ],
)
def test_failed_tests_have_names(printed: str, names: list[str]):
    assert list_failed_tests(printed) == names


@each_row(
    "piece", ["FAILED a.py", "  1) a\n       b\n", "a > ", "[ERROR] a ", "● a › ", "FAIL: a (", "\n  1) a", "× 1 "]
)
def test_hostile_output_takes_linear_time(piece: str):
    assert_grows_linearly(repeat_to(piece), list_failed_tests)


IN_COMMIT = {"tests", "tests/test_a.py", "setup.cfg", "spec", "."}


@each_row(
    ("command", "limited"),
    [
        ("pytest -q tests", "pytest -q tests/test_new.py"),
        (
            "FOO=1 uv run python -m pytest -x -c setup.cfg tests/test_a.py::test_b",
            "FOO=1 uv run python -m pytest -x -c setup.cfg tests/test_new.py",
        ),
        ("/opt/bin/pytest -k 'a or b' .", "/opt/bin/pytest -k 'a or b' tests/test_new.py"),
        ("python -m unittest discover -s tests", "python -m unittest tests/test_new.py"),
        ("npx jest --ci", "npx jest --ci tests/test_new.py"),
        ("npx vitest run", "npx vitest run tests/test_new.py"),
        ("go test -race ./...", "go test -race ./tests"),
        ("bundle exec rspec spec", "bundle exec rspec tests/test_new.py"),
        *(
            (command, "")
            for command in ("make test", "npm test", "tox", "pytest && ruff", "~/bin/pytest", "pytest 'x", "")
        ),
    ],
)
def test_a_command_runs_a_few_files(command: str, limited: str):
    assert limit_command(command, ["tests/test_new.py"], IN_COMMIT.__contains__) == limited


def test_without_a_test_nothing_is_run():
    assert limit_command("pytest", [], IN_COMMIT.__contains__) == ""


@each_row("command", ["make pytest", "tox -e pytest", "npm run jest", "nox -s pytest", "pip install pytest"])
def test_a_build_tool_takes_no_path(command):
    assert limit_command(command, ["tests/test_new.py"], IN_COMMIT.__contains__) == ""
