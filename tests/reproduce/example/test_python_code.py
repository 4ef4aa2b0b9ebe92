from testing.each_row import each_row
from triage.reproduce.example.python_code import find_exports, find_names


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
    ],
)
def test_names_that_are_used_and_not_defined(code, bound, free):
    found = find_names(code)
    assert (found.bound - {"*"}, found.free) == (bound - {"*"}, free)


def test_exports_are_followed_through_star_imports():
    files = {
        "src/shop/__init__.py": "from .cart import *\nfrom .money import Money as M\nimport os.path\nVERSION = '1'\n_x = 2\n",
        "src/shop/cart.py": "from .deep import *\nclass Cart: pass\ndef total(): pass\n",
        "src/shop/deep/__init__.py": "def deep(): pass\n",
    }
    assert find_exports(files.get, "src/shop") == {"Cart", "total", "deep", "M", "os", "VERSION"}
