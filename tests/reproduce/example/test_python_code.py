from testing.each_row import each_row
from triage.reproduce.example.python_code import find_exports, find_names, find_standard_imports, parse


@each_row(
    ("code", "bound", "free"),
    [
        ("import a.b\nfrom c import d as e\nx = f(1)", {"a", "e", "x"}, {"f"}),
        ("def f(y):\n    return y + z\nf(1)", {"f"}, {"z"}),
        ("print([i for i in range(3)])", set(), set()),
        ("from a import *\nanything()", {"*"}, set()),
        ("class C:\n    x = y\n    def m(self): return C.x", {"C"}, {"y"}),
        ("def f():\n    global g\n    g = 1\ng", {"f", "g"}, set()),
        ("return 1", set(), set()),
        ("_.f()", set(), {"_"}),
        ("_ + _.x", set(), set()),
    ],
)
def test_names_that_are_used_and_not_defined(code, bound, free):
    found = find_names(code)
    assert (found.bound - {"*"}, found.free) == (bound - {"*"}, free)


def test_each_name_has_the_module_that_it_is_imported_from():
    files = {
        "src/shop/__init__.py": "from .cart import *\nfrom .money import Money as M\nimport os.path\nVERSION = '1'\n_x = 2\n",
        "src/shop/cart.py": "from .deep import *\nclass Cart: pass\ndef total(): pass\n",
        "src/shop/deep/__init__.py": "def deep(): pass\n",
    }
    definitions = [
        ("src/shop/cart.py", "Cart"),
        ("src/shop/tax/rates.py", "Rate"),
        ("src/shop/tax/__init__.py", "charge"),
        ("src/shop/tax/_own/vat.py", "Vat"),  # the public package gives it on
        ("src/shop/tax/rates.py", "Zone"),
        ("src/shop/zones.py", "Zone"),
        ("src/shop/tests/test_tax.py", "Fixture"),
        ("src/other/x.py", "X"),
    ]
    own = dict.fromkeys(["Cart", "M", "VERSION", "deep", "total"], "shop")
    expected = {**own, "Rate": "shop.tax.rates", "charge": "shop.tax", "Vat": "shop.tax"}
    found = find_exports(files.get, "src/shop", definitions)
    assert {name: module for name, module in found.items() if "." not in name} == expected
    assert {"shop.tax.rates", "shop.zones"} <= found.keys()


def test_star_imports_are_read_once():
    lines = "".join(f"from .m{number} import *\n" for number in range(40))
    asked: list[str] = []

    def read(path: str) -> str | None:
        asked.append(path)
        return lines if path.endswith("__init__.py") else None

    find_exports(read, "shop", [])
    assert len(asked) == len(set(asked)) <= 300


@each_row(
    "code",
    [
        "f(" + "lambda: " * 2_000 + "1)",
        "x = " + "(" * 2_000 + ")" * 2_000,
        "x = " + "[" * 2_000 + "]" * 2_000,
        "x = " + "-" * 2_000 + "1",
        "x" + ".a" * 2_000,
        "x" + "()" * 2_000,
        "f'{" * 2_000,
        "x = " + " + ".join(["a"] * 3_000),
        "".join(" " * depth + "if a:\n" for depth in range(2_000)),
    ],
)
def test_what_is_nested_too_deeply_is_no_code(code):
    assert parse(code) is None


@each_row(
    ("name", "code", "line"),
    [
        (
            "cached_property",
            "class A:\n    @cached_property\n    def x(self): pass",
            "from functools import cached_property",
        ),
        ("Decimal", "Decimal('1')", "from decimal import Decimal"),
        ("json", "json.dumps(1)", "import json"),
        ("json", "json.total(1)", ""),  # their own
        ("count", "total(count)", ""),
        ("date", "total(date)", ""),
        ("datetime", "datetime.datetime.now()", "import datetime"),
        ("cart", "cart()", ""),
    ],
)
def test_a_name_of_the_standard_library_is_imported_if_it_is_clear_which(name, code, line):
    tree = parse(code)
    assert tree is not None
    assert find_standard_imports(tree).get(name, "") == line
