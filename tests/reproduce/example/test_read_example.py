"""From the text of a report to the code that is run."""

from testing.cost_growth import assert_grows_linearly
from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.read.read_issue import read_issue
from triage.reproduce.example.example import Example, NoExample, Project
from triage.reproduce.example.read_example import read_example
from triage.reproduce.example.shown_output import find_commented

SHOP = Project(
    language="python",
    package="shop",
    modules=["shop", "shop_plugins"],
    exports={"shop": "shop", "Cart": "shop", "total": "shop", "Rate": "shop.tax", "rate": "shop.tax"},
)
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
        (block("shop.f(randint(1, 2))"), "from random import randint\nimport shop\n\nshop.f(randint(1, 2))"),
        (block("import shop\nprint shop.total([])"), "import shop\nprint(shop.total([]))"),
        (
            block("%matplotlib inline\nimport shop\nshop.total([])"),
            "pass  # %matplotlib inline\nimport shop\nshop.total([])",
        ),
        (block("import shop\nshop.total([])\n[1, 2]\nshop.x()"), "import shop\nshop.total([])\nshop.x()"),
        (block("import shop\nx: int\nResult: shop.Cart\nshop.x()"), "import shop\nx: int\nResult: shop.Cart\nshop.x()"),
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
        # What only says a version differs on every version; what is about versions stays.
        (block(">>> import shop\n>>> shop.f()\n1\n>>> shop.__version__\n'1.0'"), "import shop\nshop.f()"),
        (
            block("import shop\nprint('shop', shop.__version__)\nshop.show_versions()\nshop.f()"),
            "import shop\nshop.f()",
        ),
        (
            block(">>> import shop\n>>> version = shop.f()\n>>> version == 2\nTrue\n>>> version.version()\n2"),
            "import shop\nversion = shop.f()\nversion == 2\nversion.version()",
        ),
        (block(">>> import shop\n>>> shop.version('a')\n1"), "import shop\nshop.version('a')"),
        # Prompts without a blank, and lines above the first one.
        (block(">>>import shop\n>>>shop.f()\n1"), "import shop\nshop.f()"),
        (block("import shop\n>>> shop.f()\n1"), "import shop\nshop.f()"),
        # What the report says is missing is not added.
        (block("import shop\nCart()") + "NameError: name 'Cart' is not defined", "import shop\nCart()"),
        # What works is no example beside what does not.
        ("This works fine:\n" + block(">>> shop.f()\n1") + "But\n" + block(">>> shop.g()"), "import shop\n\nshop.g()"),
        (f"This works fine:\n{block('shop.f()')}", "import shop\n\nshop.f()"),
        ("This should work fine:\n" + block("shop.f()") + block("shop.g()"), "import shop\n\nshop.f()"),
        # Only names of the project and of the standard library are free.
        (block(">>> total(Cart())"), "from shop import Cart\nfrom shop import total\n\ntotal(Cart())"),
        (
            block("@total\nclass A(Rate):\n    x: Decimal\nA()"),
            """\
from decimal import Decimal
from shop import total
from shop.tax import Rate

@total
class A(Rate):
    x: Decimal
A()""",
        ),
        (block(">>> tax.rate([])"), "from shop import tax\n\ntax.rate([])"),
        (block(">>> shop(1)"), "from shop import shop\n\nshop(1)"),
        # A test is called, and what else nobody calls.
        (
            block("def fails():\n    import shop\n    shop.f()"),
            "def fails():\n    import shop\n    shop.f()\n\nfails()",
        ),
        (
            block("def test_total():\n    shop.f()\n\ndef test_x(cart):\n    pass"),
            "import shop\n\ndef test_total():\n    shop.f()\n\ndef test_x(cart):\n    pass\n\ntest_total()",
        ),
    ],
)
def test_the_code_is_the_reporters(body, code):
    assert example(body).code == code + "\n"


@each_row(
    ("body", "changed"),
    [
        (block("import shop\nx = shop.total([])"), ["Added `x` below it."]),
        (block("import shop\nassert shop.f()\nx = shop.total([])"), []),
        (block("import shop\nshop.total([])\nshop.x"), ["The values of bare expressions are printed, as at a prompt."]),
        (
            block("shop.total([])"),
            ["Added `import shop` before it.", "The values of bare expressions are printed, as at a prompt."],
        ),
        (
            block(">>> import shop\n>>> x = shop.f()"),
            ["Took prompts and shown output away.", "Added `x` below it."],
        ),
        (
            block("import shop\nx = shop.f()") + block("x.y()\nz = x.a()"),
            [
                "Joined 2 blocks that continue each other.",
                "The values of bare expressions are printed, as at a prompt.",
            ],
        ),
        (
            block("x = total(Cart())"),
            ["Added `from shop import Cart; from shop import total` before it.", "Added `x` below it."],
        ),
        (block("import shop\nprint shop.f()"), ["Wrote print statements of Python 2 as calls."]),
        (
            block("Python 3.9\n>>> import shop\n>>> a b\n>>> print(shop.__version__)\n1\n>>> shop.f()"),
            [
                "Took prompts and shown output away.",
                "Left out what stands above the first prompt.",
                "Left out statements that are not Python.",
                "Left out what only prints a version.",
                "The values of bare expressions are printed, as at a prompt.",
            ],
        ),
        (block("def test_it():\n    shop.f()"), ["Added `import shop` before it.", "Added `test_it()` below it."]),
        (
            block("import shop\nprint(shop.f())\nBoom!\nagain"),
            ["Left out the last 2 lines of a block: they are not Python."],
        ),
    ],
)
def test_what_was_changed_is_listed(body, changed):
    assert example(body).changed == changed


SCRIPT = block("import shop\nx = shop.f()")
SESSION = block(">>> import shop\n>>> shop.f()\n{}")
TERMINAL = """\
(env) me@here shop % pip install shop==1.1
Installing shop
(env) me@here shop % python3 test.py
ok 1
(env) me@here shop % pip install shop==1.2
(env) me@here shop % python3 test.py
ok 2"""


@each_row(
    ("body", "shown"),
    [
        (f"{SCRIPT}This prints\n```\n[1, 2]\n```", [["[1, 2]"]]),
        (f"{SCRIPT}### Actual outcome\n\n```\nx + 1\n\nx\n```", [["x + 1", "x"]]),
        (f"{SCRIPT}Result:\n```\n1\n```\nand the output of y is\n~~~\n2\n~~~", [["1"], ["2"]]),
        (f"{SCRIPT}### Expected outcome\n```\n[1, 2]\n```", []),
        (f"{SCRIPT}It should print\n```\n[1, 2]\n```", []),
        (f"{SCRIPT}In earlier versions the output was\n```\n[1, 2]\n```", []),
        (f"{SCRIPT}My settings:\n```\n[1, 2]\n```", []),
        (f"{SCRIPT}\n```\n[1, 2]\n```", []),
        (f"This prints nothing:\n{SCRIPT}", []),
        (f"The output of\n{SCRIPT}is:\n```\n[1]\n```", [["[1]"]]),
        (f"The expected output of\n{SCRIPT}is:\n```\n[1]\n```", []),
        (f"The old output of\n{SCRIPT}was\n\n`[1]`", []),
        (f"What I would like as the result of\n{SCRIPT}is\n\n`[1]`", []),
        (f"This prints\n{SCRIPT}What it should print\nis\n\n`[1]`", []),
        (f"{SCRIPT}This results in `False`, and I am not happy.", []),
        (f"{SCRIPT}Result will be\n```\n1 m\n```", [["1 m"]]),
        (f"I use Shop 1.2.\n{SCRIPT}Expected:\n```\n2\n```\nInstead:\n```\n1\n```", [["1"]]),
        (f"{SCRIPT}### Actual\n\nOutput was:\n`1 m`\n\n### Expected\n\nOutput was:\n`2 m`", [["1 m"]]),
        (f"### What happened?\n\nActual:\n'1 m'\n\n{SCRIPT}", [["'1 m'"]]),
        (f"{SCRIPT}I use Shop 1.2.\n\nShop 1.1: `1.0`\nShop 1.2: `0.9`", [["0.9"]]),
        (f"I use Shop 1.2.\n{SCRIPT}Results:\nv1.2: false\nv1.1: true\n", [["false"]]),
        (f"I use Shop 1.2.\n{SCRIPT}Shop 1.1:\n```\n1\n```\nShop 1.2:\n```\n2\n```", [["2"]]),
        (f"{SCRIPT}Prints\n```\n1\n```\nand\n{block('import shop')}prints\n```\n2\n```", [["1"]]),
        (f"{SCRIPT}### Expected results\n\nAll:\n```\n1\n```\n### Actual results\n\nOne:\n```\n2\n```", [["2"]]),
        (block(">>> import shop\n>>> shop.total([])\n0\n>>> shop.x()\n'a'"), [["0", "'a'"]]),
        (block(">>> import shop\n>>> shop.total([1])\n1\n>>> shop.__version__\n'1.0'"), [["1"]]),
        (
            block(">>> import shop\n>>> shop.a()\n1\n\n# It is 2 before\n>>> shop.b()\n2"),
            [["1", "2"]],
        ),
        (block(">>> import shop\n>>> shop.a()\nTitle\n\nBody text."), [["Title\n\nBody text."]]),
        (f"{SCRIPT}I expected 2, but I get this instead:\n{block('1')}", [["1"]]),
        (block("import shop\nshop.total([1])\n[1]\nshop.x()"), [["[1]"]]),
        (block("import shop\nx = shop.a()\nx") + "returns\n\n" + block("array([1., nan])"), [["array([1., nan])"]]),
        (
            block(
                '>>> import shop\n>>> shop.f()\nTraceback (most recent call last):\n  File "a", line 1, in f\nKeyError: 1'
            ),
            [],
        ),
        # The same code on two versions, or again, with what each prints.
        (f"I use Shop 1.2.\nIn 1.1:\n{SESSION.format(1)}In 1.2:\n{SESSION.format(2)}", [["2"]]),
        (f"Once:\n{SESSION.format(1)}Twice:\n{SESSION.format(2)}", [["1"], ["2"]]),
        (f"{block('import shop')}{SESSION.format(1)}", [["1"]]),
        (block(">>> import shop\n>>> shop.f()\n# outputs: 1"), [["1"]]),
        (block(">>> import shop\n>>> shop.f()\nOutput:\n1"), [["1"]]),
        (block(">>> import shop\n>>> shop.f()\nCart(2)  # digits get lost"), [["Cart(2)"]]),
        (block(">>> import shop\n>>> shop.f()\n'a b'    [not so good]\n>>> shop.g()\na [b]"), [["'a b'", "a [b]"]]),
        (
            f"I use Shop 1.2.\n{SCRIPT}{block(TERMINAL)}",
            [["ok 2"]],
        ),
        # The call again, with its value behind it.
        (f"{SCRIPT}Actual:\n{block('shop.f()  # => 3', 'python')}", [["3"]]),
        (f"{SCRIPT}Actual:\n{block('shop.f()  # returns the wrong one', 'python')}", []),
        (f"{SESSION.format(1)}This makes more sense:\n{SESSION.format(2)}", [["1"]]),
        (f"The README has this:\n{SESSION.format(1)}Currently it prints:\n{block('2')}", [["2"]]),
        (block(">>> shop.f()\nFalse (should be True)\n>>> shop.g()\nTrue"), [["False", "True"]]),
        (block("$ uv run python -c 'import shop; print(shop.f(\"a\"))'\n1 m"), [["1 m"]]),
        (f"{SCRIPT}This prints 3:\n```\nx = 1;\nconsole.log(shop.f(x));\n```", []),
        (f"{SCRIPT}But currently (`2.0`) it is\n{block('ValueError: x')}", []),
        # A call below a line that has its value is another example.
        (f"{SCRIPT}Output: 3 days ago\n{block('shop.g()')}Output: '4 days'\n", []),
        (f"{SCRIPT}Output: 'a'\n{block('print(shop.g())')}gives:\n{block('2')}", [["2"]]),
        (f"{SCRIPT}The result is 2:\n{block('Cart(2)')}", [["Cart(2)"]]),
    ],
)
def test_what_the_report_shows_is_what_is_compared(body, shown):
    assert example(body).shown == shown


@each_row(
    ("words", "named"),
    [
        ("It always returns a length of 3 despite that.", ["3"]),
        ("This produces the string `'a'`", ["'a'"]),
        ("It returns `false` when it should return `true` for it.", ["false"]),
        ("It returns `false` when it is empty.", []),
        ("It produces `3`.", []),
        ("It should be `-3`  but its `3`\n", []),
        ("It is fine, but it is `3` times slower.", []),
        ("The docs say that it returns 3.", []),
        ("Expected: 2\nReturned: 3", ["3"]),
        ("Expected:\nReturned: 2", []),
        ("It returns -> 2\nExpected -> 3", ["2"]),
        ("The output should be => 2", []),
        ("I would like to report that it returns `2`.", ["2"]),
    ],
)
def test_a_value_in_a_sentence_may_be_what_is_printed(words, named):
    assert example(f"{SCRIPT}\n{words}").named == named


def test_none_is_printed_where_the_report_says_that_it_is_returned():
    found = example("```\nimport shop\nshop.total([])\n```\nIt returns `None`.")
    assert (found.code, found.named) == ("import shop\nprint(repr(shop.total([])))\n", ["None"])
    at_prompt = example("```\n>>> import shop\n>>> shop.a()\n1\n>>> shop.b()\n```\nIt returns `None`.")
    assert at_prompt.code == "import shop\nshop.a()\nshop.b()\n"


def test_a_module_below_the_package_is_imported():
    shop = SHOP.model_copy(update={"exports": {"shop.tax": "shop.tax"}})
    code = "import shop\nshop.tax.rate(1)\nshop.total(1)"
    assert example(block(code), shop).code == f"import shop.tax\n\n{code}\n"
    assert example(block(f"import shop.tax\n{code}"), shop).code == f"import shop.tax\n{code}\n"
    fault = f"{block(code)}\n`AttributeError: module 'shop' has no attribute 'tax'`"
    assert example(fault, shop).code == f"{code}\n"


def test_a_command_with_arguments_is_not_what_is_run():
    shown = "$ shop --name\nError: no name\n$ python x.py\n1\n$ pip install shop\nok"
    found = example(f"{SCRIPT}Output:\n```\n{shown}\n```")
    assert (found.shown, found.named) == ([["1"]], ["Error: no name"])
    reads = block("import shop, sys\nprint(shop.f(sys.argv))")  # what it prints without them may look the same
    other = example(f"{reads}Output:\n```\n$ python x.py a\n1\n$ python x.py\n2\n```")
    assert (other.shown, other.named) == ([["2"]], [])


@each_row(
    "build",
    [
        lambda size: block("import shop\nshop.f()\n" + "\n" * (size // 4) + "x !"),
        lambda size: block("import shop\nx = shop.f(" + ", ".join(f"n{number}" for number in range(size // 40)) + ")"),
        lambda size: block("a\nb \nc") * (size // 20),
        lambda size: block("import shop\nshop.f()") + "returns `a` " * (size // 16),
        lambda size: block("python -c '" + "\\" * (size - 20)),
        lambda size: block("import shop\nshop.f()\n" + "# prints " * (size // 10)),
        lambda size: block(">>> import shop\n>>> shop.f()\n1" + "\n\nAa." * (size // 6)),
        lambda size: block("\n".join(f">>> shop.f({number})\n1" for number in range(size // 64))),
    ],
)
def test_the_cost_of_finding_an_example_is_linear(build):
    def find(body: str) -> object:
        return read_example(readings[body], SHOP)

    readings = {build(size): read_issue(Issue(title="Total", body=build(size))) for size in (8_192, 32_768)}
    assert_grows_linearly(build, find)


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
        (
            block("import shop\nCart(items)") + "NameError: name 'Cart' is not defined",
            NoExample(reason="undefined-names", names=["items"]),
        ),
        (block("my.total()"), NoExample(reason="does-not-import-the-project")),
        (block("rate.f(tax)"), NoExample(reason="does-not-import-the-project")),
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
    assert example(block("total([])"), project).code == "from shop import total\n\ntotal([])\n"
    assert read(block("total(y)"), project) == NoExample(reason="does-not-import-the-project")


def test_a_session_stays_one():
    assert example(block(">>> import shop\n>>> shop.f()")).is_session
    assert not example(block("import shop\nshop.f()")).is_session


AS_MODULE = 'import * as it from "@acme/shop"; const shop = it.shop ?? (it.default ?? it);\n'


def requires(name: str) -> str:
    """Return the line that takes the package as it is entered in any version."""
    return f'const {name} = ((it) => it.{name} ?? (it.default ?? it))(require("@acme/shop"));\n'


@each_row(
    ("body", "code"),
    [
        (
            block("const s = require('@acme/shop');\ns.total([]);", "js"),
            "const s = require('@acme/shop');\nconsole.dir(s.total([]))",
        ),
        (
            block('import { total } from "@acme/shop/cart";\ntotal([]);'),
            'import { total } from "@acme/shop/cart";\nconsole.dir(total([]))',
        ),
        (
            block("const s = require('@acme/shop');\ns.pay();\nconsole.log(s.total([]))"),
            "const s = require('@acme/shop');\ns.pay();\nconsole.log(s.total([]))",
        ),
        (
            block("> const s = require('@acme/shop')\nundefined\n> s.total([])\n0"),
            "const s = require('@acme/shop')\nconsole.dir(s.total([]))",
        ),
        (
            block("> shop.total([]) // all\n0"),
            requires("shop") + "console.dir(shop.total([]) // all\n)",
        ),
        (
            block("shop.total([]);  // 0\nconst cart = shop.cart()"),
            requires("shop") + "console.dir(shop.total([])  // 0\n)\nconst cart = shop.cart()",
        ),
        (
            block("import fs from 'fs'\nconsole.log(shop.total([]))", "js"),
            AS_MODULE + "import fs from 'fs'\nconsole.log(shop.total([]))",
        ),
        (
            block("shop.total([]).value\nshop.debug = (1)\nshop.name"),
            requires("shop")
            + "console.dir(shop.total([]).value)\nconsole.dir(shop.debug = (1))\nconsole.dir(shop.name)",
        ),
        # Short for the package, and the only such name that nothing defines.
        (
            block("console.log(sh.total([]))"),
            requires("sh") + "console.log(sh.total([]))",
        ),
        (
            block("new SHOP(1).x();"),
            requires("SHOP") + "console.dir(new SHOP(1).x())",
        ),
        (
            block("console.log(new SHOP())"),
            requires("SHOP") + "console.log(new SHOP())",
        ),
        (
            block("// :(\nshop.total({\n  a: 1,\n});\nshop.pay('(');", "js"),
            requires("shop") + "// :(\nconsole.dir(shop.total({\n  a: 1,\n}))\nconsole.dir(shop.pay('('))",
        ),
        (
            block("shop.total({\n  a: 1,\n});"),
            requires("shop") + "console.dir(shop.total({\n  a: 1,\n}))",
        ),
        # Blocks that continue each other.
        (
            block("var x = 1;") + block("var y = 2;") + block("shop.total(x);"),
            "var x = 1;\n\n" + requires("shop") + "console.dir(shop.total(x))",
        ),
        (
            block("const shop = other();\nconst s = require('@acme/shop');\ns.total(shop.x)", "js"),
            "const shop = other();\nconst s = require('@acme/shop');\nconsole.dir(s.total(shop.x))",
        ),
    ],
)
def test_an_example_for_node_uses_the_package(body, code):
    assert example(body, NODE).code == code + "\n"


def test_a_class_of_the_project_is_imported_where_it_is_passed():
    shop = SHOP.model_copy(update={"exports": {"total": "shop", "eRate": "shop.tax", "rates": "shop.tax"}})
    assert (
        example(block("total(eRate)"), shop).code
        == "from shop import total\nfrom shop.tax import eRate\n\ntotal(eRate)\n"
    )
    assert isinstance(read(block("total(rates)"), shop), NoExample)


def test_names_are_imported_as_the_readme_does_it():
    names = {"S": "import shop as S", "pay": "from shop.deep.desk import pay"}
    python = SHOP.model_copy(update={"readme": names})
    assert example(block("pay(S.x(1))"), python).code == f"{names['pay']}\n{names['S']}\n\npay(S.x(1))\n"
    node = NODE.model_copy(update={"readme": {"desk": ""}})
    assert example(block("console.log(desk(1))"), node).code == requires("desk") + "console.log(desk(1))\n"
    assert isinstance(read(block("const desk = 1\nconsole.log(desk)"), node), NoExample)
    made = example(block("shop.f(1)"), NODE.model_copy(update={"readme": {"shop": "()"}}))
    assert made.code.startswith("const shop = ((it) => it.shop ?? (it.default ?? it)())(require(")


def test_a_block_for_node_that_works_is_the_example_only_without_another():
    works, fails = "This works well:\n" + block("shop.f(1)"), "This does not:\n" + block("shop.f(2)")
    assert "shop.f(2)" in example(works + fails, NODE).code
    assert "shop.f(1)" in example(works, NODE).code


def test_a_prompt_of_node_in_a_shell_is_code_for_node():
    typed = (
        "$ npm install @acme/shop\n+ @acme/shop@1.0\n$ node\nWelcome to Node.js v20.\n> require('@acme/shop').f()\n12"
    )
    found = example(block(typed, "bash"), NODE)
    assert (found.code, found.shown) == ("console.dir(require('@acme/shop').f())\n", [["12"]])
    assert read(block("npm run x > require('@acme/shop')", "bash"), NODE) == NoExample(reason="no-block")


def test_a_value_that_node_shows_with_quotes_has_none_in_a_report():
    found = example(block("const s = require('@acme/shop')\nconst x = s.f()\nx.items\n// got { 0: 1 }"), NODE)
    assert (found.code.split("\n")[2], found.named) == ("console.dir(x.items)", ["{ '0': 1 }"])


@each_row(
    ("body", "reason"),
    [
        (block("const s = require('@acme/shop');"), "calls-nothing"),
        (block("const s = require('@acme/shopping');\ns.total()"), "does-not-import-the-project"),
        (block("import shop\nshop.f()", "python"), "no-block"),
        (block("console.log(sh.total([]), sp.total([]))"), "does-not-import-the-project"),
        (block("console.log(items.map(sh => sh.total()), Set.of())"), "does-not-import-the-project"),
        (block("console.log(app.total([]))"), "does-not-import-the-project"),
        # The reporter's own files.
        (block("const s = require('./index');\ns.total()"), "does-not-import-the-project"),
        (block("import s from './src/index.js';\ns.total()"), "does-not-import-the-project"),
        (block("import s from '../utils/';\ns.total()"), "does-not-import-the-project"),
    ],
)
def test_a_report_without_an_example_for_node_says_why(body, reason):
    assert read(body, NODE) == NoExample(reason=reason)


@each_row(
    ("code", "named"),
    [
        ("shop.a()  # returns 3\nshop.b()  # Result: 1", ["3\n1"]),
        ("shop.a()  # returns 3, should be 4", []),
        ("shop.a()\n# Output:\n\n# a 1\n# `b`", ["a 1\n`b"]),
        ("shop.a()\n# Results\n\nshop.b()", []),
    ],
)
def test_a_comment_that_says_what_is_printed_may_be_compared(code, named):
    assert example(block(f"import shop\n{code}")).named == named


@each_row(
    ("below", "named"),
    [
        ("+---+\n| 1 |", ["+---+\n| 1 |"]),
        ("\nOutput:\n1 m", ["1 m"]),
        ("\nIt should be:\n1 m", []),
    ],
)
def test_what_stands_below_the_code_of_a_block_may_be_what_it_prints(below, named):
    assert example(block(f"import shop\nprint(shop.f())\n{below}")).named == named


@each_row(
    ("code", "project", "last"),
    [
        ("import shop\ncart = shop.f()", SHOP, "cart"),
        ("import shop\nprint(1)\ncart = shop.f()", SHOP, "cart = shop.f()"),
        ("var cart = shop.f({a: 1}, []);", NODE, "console.dir(cart)"),
        ("cart = await shop.f()", NODE, "console.dir(cart)"),
        ("var cart = shop.f();\nassert(cart);", NODE, "assert(cart);"),
    ],
)
def test_the_last_result_is_printed_where_nothing_else_is(code, project, last):
    found = example(f"{block(code)}Beside 2.0 the cart is `3 m`.", project)
    assert (found.code.rstrip().split("\n")[-1], found.named) == (last, [])


def test_a_value_in_the_console_of_a_browser_is_that_of_a_prompt():
    assert example(block('> shop.f()\n< "1 m"'), NODE).shown == [['"1 m"']]


def test_markup_that_a_prompt_prints_is_no_mark():
    assert example(block("> shop.f()\n<b>a</b>"), NODE).shown == [["<b>a</b>"]]


@each_row(
    ("text", "code"),
    [
        ("shop.f(1)\nTypeError: no items (of 1)\nshop.f(2);", "// TypeError: no items (of 1)\nconsole.dir(shop.f(2))"),
        ("shop.f(1)\n  => 'a'\nshop.f(2)", "//   => 'a'\nconsole.dir(shop.f(2))"),
        ("shop.f(1)\nError: x\n    at f (a.js:1:2)\nshop.f(2)", "console.dir(shop.f(2))"),
        ("shop.f((x)\n  => {\n})", ""),
        ("shop.f({\n  TypeError: 1,\n  RangeError: 2\n})", ""),
    ],
)
def test_what_is_shown_below_a_line_of_node_is_no_code(text, code):
    found = example(block(text), NODE)
    left_out = "Left out shown output." in found.changed
    assert (found.code, left_out) == (
        f"{requires('shop')}console.dir(shop.f(1))\n{code}\n" if code else f"{requires('shop')}console.dir({text})\n",
        bool(code),
    )


def test_a_session_of_node_is_no_output():
    typed = "> const s = require('@acme/shop')\n> s.f()\n2"
    found = example(f"{block('shop.f()')}It returns `2`:\n{block(typed)}", NODE)
    assert (found.shown, found.named) == ([], ["2"])


def test_a_prompt_of_node_without_outputs_is_code():
    assert example(block("> require('@acme/shop').f()"), NODE).code == "console.dir(require('@acme/shop').f())\n"


def test_a_line_that_begins_with_what_came_is_no_wish():
    found = example(f"{SCRIPT}expected return value: `1` (of three)\nactual return value:        `2`")
    assert found.named == ["2"]
    assert example(f'{SCRIPT}I get "2 m" \n\nIs this right?').named == ['"2 m"']


def test_comments_with_what_was_expected_and_what_came_are_compared():
    found = example(block("import shop\nshop.a()\n# expected: 1\n# actual: 2"))
    assert (found.shown, found.wished, found.named) == ([["2"]], ["1"], [])
    below = example(block("import shop\nshop.a()\n# expected\n# 1\n# 2\n# actual:\n# 2\n# 3"))
    assert (below.shown, below.wished) == ([["2\n3"]], ["1\n2"])
    behind = example(block("shop.a('a')\n'c'  // Expected\n'b'  // Actual"), NODE)
    assert (behind.shown, behind.wished) == ([["'b'"]], ["'c'"])
    vague = example(block("import shop\nshop.a()  # got the wrong total"))
    assert (vague.shown, vague.named) == ([], ["the wrong total"])


def test_a_value_below_a_comment_that_says_what_it_is_is_output():
    code = block("const shop = require('@acme/shop')\nconsole.log(shop.a())")
    found = example(code + block("// Expected\n{ a: 1 }") + block("// Actual:\n{\n  a: 2\n}", "js"), NODE)
    assert (found.shown, found.wished) == ([["{", "  a: 2", "}"]], ["{ a: 1 }"])
    assert example(SCRIPT + "Output:\n" + block("# Actual\n[1]")).shown == [["[1]"]]
    assert example(SCRIPT + "In 0.9 it was:\n" + block("# Output\n[1]")).shown == []
    assert "shop.b()" in example(SCRIPT + block("# Actual\nshop.b()")).code
    assert example(code + block("// Actual\n{ a: shop.b() }"), NODE).shown == []


def test_a_value_of_another_example_proves_nothing():
    calls = block("shop.total(1)"), block("shop.total(2)"), block("shop.total(3)")
    bodies = ("Output: {}\nExpected: 9\n\n".join(calls).format(first, "'4 m'") for first in ("'3 m'", "3 m"))
    assert [(found.shown, found.named) for body in bodies if (found := example(body))] == [
        ([], ["'3 m'"]),
        ([], []),
    ]


@each_row(
    ("code", "commented"),
    [
        ("shop.a() // => 1\nshop.b()  //=> 'c d'", ["1\n'c d'"]),
        ("shop.a()  # -> 1", ["1"]),
        ("shop.a() \n // ❌ 'b'\nshop.b();\n// ✔️ [1]", ["'b'\n[1]"]),
        ("print(shop.a())# [1, 2]\nshop.b();  // true", ["[1, 2]\ntrue"]),
        ("shop.a()  # 1\nx = [1]  # [2]\nshop.b()  # the first one\nf('a#b')", []),  # numbers count the lines
    ],
)
def test_a_value_in_a_comment_beside_a_call_may_be_what_is_printed(code, commented):
    found = find_commented(code)
    assert (found[""], found["named"]) == (commented, [])


@each_row(
    ("words", "commented"),
    [
        ("I run it on Windows.", ["42"]),
        ("Instead I get `41`.", ["42"]),
        ("It has to return 42.", ["42"]),
        ("I want `43`.", ["42"]),
        ("Would you take a patch for it to return 41?", ["42"]),
        ("It returns `42`.", []),
        ("It prints\n\n```\n42\n```", []),
    ],
)
def test_a_value_alone_in_a_comment_may_be_wished_unless_the_report_says_that_it_is_printed(words, commented):
    found = example(f"{block('import shop' + chr(10) + 'print(shop.total([1]))  # 42')}{words}")
    assert (found.commented, "42" in found.named) == (commented, not commented)


@each_row(
    ("call", "shown"), [("shop.total()", "{a: 1, b: 'x'}"), ("JSON.stringify(shop.total())", '{"a": 1, "b": "x"}')]
)
def test_what_is_shown_as_json_is_compared_as_node_prints_it(call, shown):
    code = block(f"const shop = require('@acme/shop')\nconsole.log({call})", "js")
    assert example(code + "Actual:\n" + block('{"a": 1, "b": "x"}', "json"), NODE).shown == [[shown]]


def test_a_labelled_value_is_output_and_data_above_the_code_is_none():
    assert example(SCRIPT + block("total: Cart(1)")).named == ["total: Cart(1)"]
    versions = block("import shop\nprint('VERSION ' + shop.__version__)\nprint(shop.f(1))")
    assert example(versions + block("VERSION 1.5.3\n<b>")).named == ["<b>"]
    found = example("Input:\n" + block("<i>", "html") + "Output:\n" + block("<b>", "html") + SCRIPT)
    assert (found.shown, found.named) == ([["<b>"]], [])


def test_comments_of_an_example_that_shows_what_ought_to_be_are_wished():
    code = block("import shop\nshop.a()  # => 1")
    assert example(f"It should be:\n{code}").wished == ["1"]
    assert example(f"When I run it, it prints `1`. It should be `2`:\n{code}").named == ["1", "1"]
