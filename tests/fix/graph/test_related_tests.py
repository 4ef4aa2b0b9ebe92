"""The tests of a file are found by names and folders."""

import pytest

from triage.domain.proposal import EditablePath
from triage.fix.graph.shown_files import find_related_tests

FILES = [
    EditablePath(path, language, is_test=True, is_product_code=False)
    for language, paths in {
        "Python": "tests/test_basket.py tests/test_baskets_total.py tests/conftest.py tests/json/test_tag.py "
        "docs/example/test_basket.py tests/__init__.py tests/compat.py",
        "JavaScript": "test/app.js test/res.location.js test/res.redirect.js test/cart.test.js test/plugin/carts.sum.js "
        "test/plugin/other.test.js",
        "TypeScript": "packages/core/__tests__/parse.spec.ts packages/dom/__tests__/parse.spec.ts "
        "packages/dom/__tests__/index.spec.ts",
        "Go": "basket_test.go store/basket_test.go",
        "Java": "src/test/java/x/BasketTest.java src/test/java/x/BasketItemTest.java",
    }.items()
    for path in paths.split()
] + [EditablePath("shop/basket.py", "Python", is_test=False, is_product_code=True)]


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("shop/basket.py", ["tests/test_basket.py", "docs/example/test_basket.py", "tests/test_baskets_total.py"]),
        ("shop/json/__init__.py", ["tests/json/test_tag.py"]),
        (
            "packages/core/src/parse.ts",
            ["packages/core/__tests__/parse.spec.ts", "packages/dom/__tests__/parse.spec.ts"],
        ),
        ("packages/dom/src/parse.js", ["packages/dom/__tests__/parse.spec.ts"]),
        ("basket.go", ["basket_test.go", "store/basket_test.go"]),
        ("store/basket.go", ["store/basket_test.go", "basket_test.go"]),
        ("src/main/java/x/Basket.java", ["src/test/java/x/BasketTest.java", "src/test/java/x/BasketItemTest.java"]),
        ("shop/unknown.py", ["tests/test_basket.py"]),
        ("shop/basket.rb", []),
        ("shop/total_baskets.py", ["tests/test_baskets_total.py", "tests/test_basket.py"]),
    ],
)
def test_the_most_likely_tests_come_first(path: str, first: list[str]):
    assert find_related_tests(path, FILES, len(first) or 3) == first


def test_the_words_of_a_name_may_stand_in_another_order():
    assert "tests/compat.py" in find_related_tests("shop/total_sum.py", FILES, 9)
    assert "tests/compat.py" not in find_related_tests("shop/total_baskets.py", FILES, 9)


def test_a_test_is_not_its_own_test():
    assert "tests/test_basket.py" not in find_related_tests("tests/test_basket.py", FILES, 10)


def test_a_test_file_for_each_function():
    found = find_related_tests("lib/response.js", FILES, 2, ["res.redirect", "location"])
    assert found == ["test/res.location.js", "test/res.redirect.js"]


def test_a_test_of_the_same_name_makes_unrelated_ones_superfluous():
    assert find_related_tests("src/plugin/cart/index.js", FILES, 3) == ["test/cart.test.js", "test/plugin/carts.sum.js"]
