from testing.cost_growth import assert_grows_linearly
from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.read.read_issue import read_issue
from triage.reproduce.example.sessions import fence_code


@each_row(
    ("body", "code"),
    [
        ("It fails:\n\nimport shop\nshop.total([])\n\nWhy?", ["import shop\nshop.total([])"]),
        ("It fails:\n`\nimport shop\nshop.total([])\n`\nprints\n`\n0\n`", ["import shop\nshop.total([])"]),
        ("`>>> shop.total([])`\r\n\r\nis 0", [">>> shop.total([])"]),
        ("It is wrong\n\nx = [1]\nshop.total(x)\n![a picture](https://x.y/z.png)", ["x = [1]\nshop.total(x)"]),
        ("let s = require('shop')\ns.total()", ["let s = require('shop')\ns.total()"]),
        ("let s = require('shop');\ns.total({\n  a: 1\n});", ["let s = require('shop');\ns.total({\n  a: 1\n});"]),
        ('`python -c "import shop; shop.f()"`\nIt fails.', ['python -c "import shop; shop.f()"']),
        ("I do:\nx = shop.total([])\n\nI get:\n{\n  'a': 1\n}", ["x = shop.total([])"]),
        ("I have run this\nshop.total([\n  1\n])\nreturns -> 2", ["shop.total([\n  1\n])"]),
        ("I call it (twice)\nand shop.total([]) fails.\nThanks (again)", []),
        ("It prints\n\n`[\n  1\n]`\n\nand `x`.", ["[\n  1\n]"]),
        ("I call `shop.total([])`; it fails (badly).\n\nWhy\nis import shop", ["shop.total([])"]),
        ("`shop.total([])` is 0 and `shop.total([1])` too", []),  # which of them is wrong?
        ("`shop.total()` is 0", []),
        ("`shop.total([1]),`\nis 0, and `,`\n\n`,`", ["shop.total([1])"]),
        ("I do\n\nvar s = shop.total([])\n\nand `shop.pay(1)`", ["var s = shop.total([])"]),
        ("It is 0:\n\nshop.total([1])\n//0", ["shop.total([1])\n//0"]),
        ("I call it with require('lodash')\nand it returns nothing (see below)", []),
        ("require('shop')\n  .total()", ["require('shop')\n  .total()"]),
        ("<!--\n\nimport shop\nshop.total([])\n\n-->", []),
        ("import shop\nshop.total([])  # <b>x</b>", []),  # people see no tags
    ],
)
def test_code_without_a_fence_gets_one(body, code):
    fenced = fence_code(body, read_issue(Issue(title="", body=body)).prose)
    assert [block.text for block in read_issue(Issue(title="", body=fenced)).code] == code


@each_row(
    "build",
    [
        lambda size: "f(1)\n\n" * (size // 6),
        lambda size: "`" + " " * size + "x",
        lambda size: "`f()\n" * (size // 5),
        lambda size: "a b\n" * (size // 4),
    ],
)
def test_the_cost_is_linear(build):
    assert_grows_linearly(build, lambda body: fence_code(body, body))
