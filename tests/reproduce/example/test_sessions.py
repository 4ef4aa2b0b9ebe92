from testing.each_row import each_row
from triage.reproduce.example.sessions import read_session, without_traces


@each_row(
    ("text", "statements", "outputs"),
    [
        (">>> x = 1\n>>> x + 1\n2", ["x = 1", "x + 1"], ["", "2"]),
        (">>> for i in range(2):\n...     print(i)\n...\n0\n1", ["for i in range(2):\n    print(i)"], ["0\n1"]),
        ("In [1]: f(1,\n   ...:   2)\nOut[1]: 3\n\nIn [2]: g()", ["f(1,\n  2)", "g()"], ["3", ""]),
        ("  >>> f()\n  'a'", ["f()"], ["'a'"]),
        (">> f()\n1", ["f()"], ["1"]),
        (">>>> if x:\n....     f()\n1\n>>>> g()", ["if x:\n    f()", "g()"], ["1", ""]),  # PyPy
        (">>> f()\nNone                <----- error!\n1 <- 2", ["f()"], ["None\n1 <- 2"]),
        ("prose\n>>> f()\n", ["f()"], [""]),
        (">>>\n>>> f()", ["f()"], [""]),
        # Some terminals show what continues a bracket without a prompt.
        (">>> f(\n[1,\n')'])\n2\n>>> g('(')\n(", ["f(\n[1,\n')'])", "g('(')"], ["2", "("]),
        (">>> f()  # wrong :(\n(1, 2))\n>>> g()\n2", ["f()  # wrong :(", "g()"], ["(1, 2))", "2"]),
        (">>>if x:\n...  f()\n1\n>>>g()\n2", ["if x:\n f()", "g()"], ["1", "2"]),
    ],
)
def test_statements_and_outputs_are_taken_apart(text, statements, outputs):
    session = read_session(text, "python")
    assert session is not None
    assert (session.statements, session.outputs) == (statements, outputs)


def test_commands_of_a_shell_are_taken_from_their_prompts():
    session = read_session("$ shop add \\\n> a\nadded\n$ shop", "shell")
    assert session == (["shop add \\\na", "shop"], ["added", ""], "")


def test_a_prompt_of_node_may_stand_below_its_greeting_but_not_below_code():
    session = read_session("$ node\nWelcome to Node.js v20.1.0.\n> f()\n1", "node")
    assert session == (["f()"], ["1"], "$ node\nWelcome to Node.js v20.1.0.")
    assert read_session(">f()\n1\n\n>g()", "node") == (["f()", "g()"], ["1", ""], "")
    assert read_session("total = price\n> 3", "node") is None


@each_row("text", ["x = 1", "> f()\n1", "a > b", "if x:\n    > y", "..."])
def test_text_without_a_prompt_is_no_session(text):
    assert read_session(text, "python") is None


def test_a_traceback_goes_to_the_end_of_its_error():
    shown = 'f()\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: no\ng()'
    assert without_traces(shown) == "f()\ng()"
