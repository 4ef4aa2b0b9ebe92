import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.reproduce.runs import IN_EXAMPLE, IN_NUMPY, IN_SHOP, failed, failure
from triage.reproduce.evidence import FailurePlace
from triage.reproduce.runner.read_record import find_obstacle, is_gone, read_record

SITE = "/env/lib/python3.9/site-packages"


def line(record: Any = None, **changes: Any) -> bytes:
    fields = {"code": 1, "late": False, "runtime": "Python 3.9.1", "output": "", "record": record}
    return json.dumps(fields | changes).encode()


def error(**changes: Any) -> dict[str, Any]:
    return {"type": "ValueError", "message": "no", "frames": [], "causes": ["ValueError"]} | changes


def test_paths_lead_from_the_folder_that_the_module_is_in():
    frames = [
        ["<example>", 1, "<module>"],
        [f"{SITE}/shop/cart.py", 3, "add"],
        [f"{SITE}/shop.py", 3, "add"],
        [f"{SITE}/shopping/x.py", 2, "f"],
    ]
    found = read_record(
        line(
            {"errors": [error(frames=frames)], "executed": [frames[1]], "folders": [f"{SITE}/shop", f"{SITE}/shop.py"]}
        )
    )
    assert [frame.path for frame in found.failures[0].frames] == ["<example>", "shop/cart.py", "shop.py", "<other>"]
    assert found.executed == [FailurePlace(path="shop/cart.py", line=3, function="add")]


@each_row(
    ("data", "outcome"),
    [
        (line({"errors": []}, code=0), "passed"),
        (line({"errors": []}, code=3), "could-not-run"),
        (line({"errors": []}, code=-6), "failed"),
        (line({"errors": []}, code=-9), "could-not-run"),
        (b"[" * 200_000, "could-not-run"),
        (line({"errors": [error()]}), "failed"),
        (line(None, late=True, code=-9), "timed-out"),
        (line(None, code=-11), "failed"),
        (line(None, code=-9), "could-not-run"),
        (line(None, code=0), "could-not-run"),
        (b"", "could-not-run"),
        (b"[]", "could-not-run"),
        (line({"errors": [error(type="x" * 10_000)]}), "could-not-run"),
        (line({"errors": [error()] * 100}), "could-not-run"),
        (line({"errors": [], "executed": [["a", 1, "b"]] * 5_000}), "could-not-run"),
    ],
)
def test_how_a_run_ended(data, outcome):
    assert read_record(data).outcome == outcome


def test_the_words_of_a_stranger_are_cut_and_cleaned():
    found = read_record(
        line(
            {"errors": [error(message="a\u202eb" + "x" * 9_999, type="E\nvil")]},
            output="\x1b[31mred\u200b" + "y" * 99_999,
        )
    )
    assert found.failures[0].message.startswith("abx")
    assert found.failures[0].type == "E vil"
    assert found.output.startswith("redy")
    assert (len(found.failures[0].message), len(found.output)) == (1_999, 8_000)


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["code", "late", "record", "errors"]), inner),
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_bytes_break_the_reader(data):
    read_record(data)


@each_row(
    ("execution", "obstacle"),
    [
        (failed("ModuleNotFoundError: No module named 'dask'", IN_EXAMPLE), "an import fails"),
        (failed("ImportError: needs pooch", IN_SHOP), "an import fails"),
        (failed("ConnectionError: no", IN_SHOP), "it needs the network"),
        (failed("FileNotFoundError: a.csv", IN_SHOP), "it needs a file"),
        (failed("SyntaxError: invalid", IN_EXAMPLE), "it is not valid code, at least for this version"),
        (failed("NameError: name 'x' is not defined", IN_EXAMPLE), "it uses a name that nothing defines"),
        (failed("AttributeError: np.int", IN_NUMPY, executed=[]), "it failed before it used the project"),
        (failed("NameError: name 'x' is not defined", IN_SHOP), ""),
        (failed("NameError: name 'unicode' is not defined", IN_SHOP), "it needs Python 2"),
        (failed("AttributeError: np.int", IN_NUMPY), ""),
        (failed("AssertionError", IN_EXAMPLE, executed=[]), ""),
        (failed("ValueError: no items", IN_SHOP), ""),
    ],
)  # fmt: skip
def test_an_error_before_the_project_ran_is_an_obstacle(execution, obstacle):
    assert find_obstacle(execution, execution.failures[0]) == obstacle


@each_row(
    ("text", "code", "is_one"),
    [
        (
            "ImportError: cannot import name 'rate' from 'shop.tax' (/env/shop/tax.py)",
            "from shop.tax import rate",
            True,
        ),
        ("ImportError: cannot import name 'rate'", "from shop import rate", True),
        ("ImportError: cannot import name 'rate' from 'numpy'", "import shop\nfrom numpy import rate", False),
        ("ModuleNotFoundError: No module named 'shop.tax'", "import shop.tax", True),
        ("ModuleNotFoundError: No module named 'shop'", "import shop", False),  # it was not built
        ("Error: Cannot find module 'shop'", "require('shop')", False),
        ("ModuleNotFoundError: No module named 'shopping'", "import shop, shopping", False),
        ("AttributeError: module 'shop' has no attribute 'f'", "shop.f()", True),
        ("AttributeError: 'NoneType' object has no attribute 'f'", "shop.g().f()", False),
        ("AttributeError: 'Cart' object has no attribute 'f'", "from shop import Cart\nCart().f()", True),
        ("AttributeError: type object 'Cart' has no attribute 'f'", "from shop import Cart\nCart.f()", True),
        ("TypeError: shop.f is not a function", "const shop = require('shop');\nshop.f()", True),
        ("TypeError: Shop is not a constructor", "import { Shop } from 'shop';\nnew Shop()", True),
        (
            "TypeError: cart.f is not a function",
            "const shop = require('shop');\nconst cart = shop.g(); cart.f()",
            False,
        ),
        (
            "SyntaxError: The requested module 'shop' does not provide an export named 'f'",
            "import { f } from 'shop'",
            True,
        ),
        ("Error: Cannot find module 'shop/tax'", "require('shop/tax')", True),
        ("Error: Cannot find module 'env/node_modules/shop/index.js'", "require('shop')", False),  # it must be built
        ("ValueError: no items", "shop.f()", False),
    ],
)
def test_names_that_the_project_does_not_have(text, code, is_one):
    assert is_gone(failure(text, IN_EXAMPLE), code, ["shop"]) is is_one
    assert not is_gone(failure(text, IN_SHOP), code, ["shop"]), "the project itself asks for it"
