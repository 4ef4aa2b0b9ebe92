"""From the text of a report to the code that is run."""

from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.issue.read_issue import read_issue
from triage.reproduce.example.example import Example, NoExample, Project
from triage.reproduce.example.read_example import read_example, restore_blanks

SHOP = Project(language="python", package="shop", modules=["shop", "shop_plugins"], exports=["Cart", "total"])
NODE = Project(language="node", package="@acme/shop", modules=["@acme/shop"])


def block(code: str, language: str = "") -> str:
    return f"```{language}\n{code}\n```\n"


def read(body: str, project: Project = SHOP) -> Example | NoExample:
    return read_example(read_issue(Issue(title="Total is wrong", body=body)), project)


def example(body: str, project: Project = SHOP) -> Example:
    found = read(body, project)
    assert isinstance(found, Example), found
    return found


@each_row(
    ("body", "code"),
    [
        (block("import shop\nshop.total([])", "python"), "import shop\nshop.total([])"),
        (block("import shop\r\nshop.total([])"), "import shop\nshop.total([])"),
        ("Text:\n\n    import shop\n    shop.total([])\n", "import shop\nshop.total([])"),
        (block("  from shop.cart import Cart\n  Cart()"), "from shop.cart import Cart\nCart()"),
        (block("import shop_plugins as p\np.load()"), "import shop_plugins as p\np.load()"),
        # Unfenced, with its prompts.
        (">>> import shop\n>>> shop.total([])\n0\n", "import shop\nshop.total([])"),
        # The first block that uses the project counts; another one that imports it is an example of its own.
        (
            block("import os\nos.getcwd()") + block("import shop\nshop.total([])") + block("import shop\nshop.x()"),
            "import shop\nshop.total([])",
        ),
        # Blocks that continue each other, before and after.
        (
            block("class My: pass") + block("import shop\nc = shop.Cart(My())") + "then\n\n" + block("c.total()"),
            "class My: pass\n\nimport shop\nc = shop.Cart(My())\n\nc.total()",
        ),
        # A later block whose names nothing defines does not belong to it, and the one after it may.
        (
            block("import shop\nc = shop.Cart()") + block("other.thing()") + block("c.total()"),
            "import shop\nc = shop.Cart()\n\nc.total()",
        ),
        (block("import shop\nprint shop.total([])"), "import shop\nprint(shop.total([]))"),
        (
            block("%matplotlib inline\nimport shop\nshop.total([])"),
            "pass  # %matplotlib inline\nimport shop\nshop.total([])",
        ),
        (block("import shop\nshop.total([])\n[1, 2]\nshop.x()"), "import shop\nshop.total([])\nshop.x()"),
        (block("import shop\nshop.total([])\n<shop.Cart object>"), "import shop\nshop.total([])"),
        (
            block(
                'import shop\nshop.f()\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1'
            ),
            "import shop\nshop.f()",
        ),
        # A call of a function is no output of the call before it.
        (block("import shop\nshop.f()\nprint('end')\nlen([])"), "import shop\nshop.f()\nprint('end')\nlen([])"),
        # Jupyter shows lines that go on below the code.
        (block("In [1]: import shop\n        x = 1\n\nIn [2]: shop.f(x)\nOut[2]: 1"), "import shop\nx = 1\nshop.f(x)"),
        # What says a version differs on every version.
        (block(">>> import shop\n>>> shop.f()\n1\n>>> shop.__version__\n'1.0'"), "import shop\nshop.f()"),
        (block(">>> shop.f()\n1\n>>> import shop; shop.__version__\n'1.0'"), "shop.f()\nimport shop"),
        # Only names of the project are free.
        (block(">>> total(Cart())"), "from shop import *\n\ntotal(Cart())"),
    ],
)
def test_the_code_is_the_reporters(body, code):
    assert example(body).code == code + "\n"


@each_row(
    ("body", "changed"),
    [
        (block("import shop\nx = shop.total([])"), []),
        (block("import shop\nshop.total([])\nshop.x"), ["The values of bare expressions are printed, as at a prompt."]),
        (
            block("shop.total([])"),
            ["Added `import shop` before it.", "The values of bare expressions are printed, as at a prompt."],
        ),
        (block(">>> import shop\n>>> x = shop.f()"), ["Took prompts and shown output away."]),
        (
            block("import shop\nx = shop.f()") + block("x.y()\nz = x.a()"),
            [
                "Joined 2 blocks that continue each other.",
                "The values of bare expressions are printed, as at a prompt.",
            ],
        ),
        (block("x = total(Cart())"), ["Added `from shop import *` before it."]),
        (block("import shop\nprint shop.f()"), ["Wrote 1 print statement of Python 2 as calls."]),
        (
            block("import shop\nprint(shop.f())\nBoom!\nagain"),
            ["Left out the last 2 lines of a block: they are not Python."],
        ),
    ],
)
def test_what_was_changed_is_listed(body, changed):
    assert example(body).changed == changed


SCRIPT = block("import shop\nx = shop.f()")


@each_row(
    ("body", "shown"),
    [
        (f"{SCRIPT}This prints\n```\n[1, 2]\n```", ["[1, 2]"]),
        (f"{SCRIPT}### Actual outcome\n\n```\nx + 1\n\nx\n```", ["x + 1", "x"]),
        (f"{SCRIPT}Result:\n```\n1\n```\nand the output of y is\n~~~\n2\n~~~", ["1", "2"]),
        (f"{SCRIPT}### Expected outcome\n```\n[1, 2]\n```", []),
        (f"{SCRIPT}It should print\n```\n[1, 2]\n```", []),
        (f"{SCRIPT}In earlier versions the output was\n```\n[1, 2]\n```", []),
        (f"{SCRIPT}My settings:\n```\n[1, 2]\n```", []),
        (f"{SCRIPT}\n```\n[1, 2]\n```", ["[1, 2]"]),
        (f"This prints nothing:\n{SCRIPT}", []),
        (f"{SCRIPT}This results in `False`, and I am not happy.", ["False"]),
        (f"{SCRIPT}I expect that this results in `True`.", []),
        (block(">>> import shop\n>>> shop.total([])\n0\n>>> shop.x()\n'a'"), ["0", "'a'"]),
        (block(">>> import shop\n>>> shop.total([1])\n1\n>>> shop.__version__\n'1.0'"), ["1"]),
        (block("import shop\nshop.total([1])\n[1]\nshop.x()"), ["[1]"]),
        (block("import shop\nx = shop.a()\nx") + "returns\n\n" + block("array([1., nan])"), ["array([1., nan])"]),
        (
            block(
                '>>> import shop\n>>> shop.f()\nTraceback (most recent call last):\n  File "a", line 1, in f\nKeyError: 1'
            ),
            [],
        ),
    ],
)
def test_what_the_report_shows_is_what_is_compared(body, shown):
    assert example(body).shown == shown


def test_blanks_at_the_ends_of_shown_lines_count():
    body = "It prints:\r\n\r\n```\r\n>>> import shop\r\n>>> shop.show()\r\na \r\nb\r\n```\r\n"
    parsed = restore_blanks(read_issue(Issue(title="A blank too many", body=body)), body)
    found = read_example(parsed, SHOP)
    assert isinstance(found, Example)
    assert found.shown == ["a \nb"]


@each_row(
    ("body", "refusal"),
    [
        ("It is slow.", NoExample(reason="no-block")),
        (block("shop total: 3 !"), NoExample(reason="does-not-parse")),
        (block("import shop", "bash"), NoExample(reason="does-not-parse")),
        (block("import os\nos.getcwd()"), NoExample(reason="does-not-import-the-project")),
        (block("import shopping\nshopping.x()"), NoExample(reason="does-not-import-the-project")),
        (block("import shop\nclass My(shop.Cart):\n    pass"), NoExample(reason="calls-nothing")),
        (block("import shop\n@shop.mark\ndef test_it(fixture):\n    pass"), NoExample(reason="calls-nothing")),
        (block("import shop\nshop.total(items)"), NoExample(reason="undefined-names", names=["items"])),
        (block("total(items)"), NoExample(reason="does-not-import-the-project")),
        # The nearest reason of all blocks.
        (block("import os\nos.x()") + block("import shop"), NoExample(reason="calls-nothing")),
    ],
)
def test_a_report_without_an_example_says_why(body, refusal):
    assert read(body) == refusal


def test_a_prelude_of_the_settings_is_added_where_its_names_are_missing():
    project = SHOP.model_copy(update={"prelude": "from shop import *\nx = Cart()"})
    assert example(block("total(x)"), project).code == "from shop import *\nx = Cart()\n\ntotal(x)\n"
    assert example(block("import shop\nshop.total([])"), project).code == "import shop\nshop.total([])\n"
    assert read(block("total(y)"), project) == NoExample(reason="does-not-import-the-project")


def test_a_session_stays_one():
    assert example(block(">>> import shop\n>>> shop.f()")).is_session
    assert not example(block("import shop\nshop.f()")).is_session


@each_row(
    ("body", "code"),
    [
        (
            block("const s = require('@acme/shop');\ns.total([]);", "js"),
            "const s = require('@acme/shop');\ns.total([]);",
        ),
        (
            block('import { total } from "@acme/shop/cart";\ntotal([]);'),
            'import { total } from "@acme/shop/cart";\ntotal([]);',
        ),
        (block("> const s = require('@acme/shop')\n> s.total([])\n0"), "const s = require('@acme/shop')\ns.total([])"),
    ],
)
def test_an_example_for_node_uses_the_package(body, code):
    assert example(body, NODE).code == code + "\n"


@each_row(
    ("body", "reason"),
    [
        (block("const s = require('@acme/shop');"), "calls-nothing"),
        (block("const s = require('@acme/shopping');\ns.total()"), "does-not-import-the-project"),
        (block("import shop\nshop.f()", "python"), "no-block"),
    ],
)
def test_a_report_without_an_example_for_node_says_why(body, reason):
    assert read(body, NODE) == NoExample(reason=reason)
