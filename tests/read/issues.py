"""Sample issues, written in different ways."""

from triage.domain.issue import Issue, IssueComment

COMPLETE = Issue(
    number=7,
    title="`Cart.total()` raises TypeError for an empty cart",
    author="ann",
    body="""<!-- Please search first -->
### What happened?

Since the upgrade, an empty cart breaks the checkout page. See `shop/cart.py` and
https://github.com/acme/shop/blob/0123456789abcdef0123456789abcdef01234567/shop/views/checkout.py#L10-L12.

### Steps to reproduce

```python
from shop import Cart

Cart().total(currency_code="EUR")
```

### What did you expect?

Zero.

### Version

2.4.1

### Environment

- Python: 3.11.2
- OS: Ubuntu 22.04
- requests==2.31.0

### Relevant log output

```shell
Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in <module>
    Cart().total(currency_code="EUR")
  File "/srv/lib/shop/cart.py", line 41, in total
    return sum(items)
TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'
```

### Anything else?

_No response_
""",
)

JAVASCRIPT = Issue(
    title="App.render crashes after hot reload",
    body="With vite 5.1.2 on Node v20.11.0 and Chrome 121 I see\n\n```\nTypeError: Cannot read properties of undefined (reading 'id')\n"
    "    at render (src/App.tsx:12:3)\n    at mount (src/main.ts:4:1)\n```\n\nwhen I save `src/App.tsx`. It only happens with `--force`.",
)

GO = Issue(
    title="nil map write in Registry.Add",
    body="panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.(*Registry).Add(0xc0)\n\t/src/registry.go:33 +0x1\nmain.main()\n\t/src/main.go:8 +0x2\n\n"
    "I am on commit 3f2a9bc4d1 with go1.22.",
)

THIN = Issue(title="It is slow", body="")
VAGUE_CRASH = Issue(title="Crash on startup", body="The program crashes when I open it. Please fix.")
PLATFORM = Issue(
    title="Wrong colours in the table",
    body="The table shows wrong colours on my machine, colleagues see the right ones. I use release 1.9.0 and run `shop table --all`, then open the page.",
)
FEATURE = Issue(title="Feature request: dark mode", body="It would be nice to have a dark mode.")
QUESTION = Issue(title="How can I change the port?", body="I looked in the manual and found no option.")
JUNK = Issue(title="test", body="")

FURTHER = Issue(
    title="Save fails",
    author="ann",
    body="It fails, see below.",
    thread=[
        IssueComment(author="bob", body="Which error? `NotMine.x`"),
        IssueComment(
            author="ann", body='```\nFile "late.py", line 5, in save\nOSError: disk full\n```\nwith shop 1.2.3'
        ),
        IssueComment(author="ann", body="`bot.says()`", by_bot=True),
        IssueComment(author="ann", body="`ours.says()`", ours=True),
    ],
)

FORM = """name: Bug report
description: Something is broken
body:
  - type: markdown
    attributes: {value: "Thanks!"}
  - type: textarea
    id: what
    attributes: {label: "What happened?"}
    validations: {required: true}
  - type: textarea
    id: steps
    attributes: {label: "Steps to reproduce"}
    validations: {required: true}
  - type: input
    id: version
    attributes: {label: "Shop version"}
    validations: {required: true}
  - type: dropdown
    id: db
    attributes: {label: "Which database?", options: [a, b]}
    validations: {required: true}
  - type: textarea
    attributes: {label: "Anything else?"}
"""

FILLED = "### What happened?\n\nThe total is wrong.\n\n### Steps to reproduce\n\n{steps}\n\n### Shop version\n\n{version}\n\n### Which database?\n\n{database}"
"""A text in the headings of the form."""

TEMPLATE = """---
name: Bug report
about: Tell us
---
<!-- ## Not a heading -->
## Description

**To Reproduce**

## Expected behavior
"""
