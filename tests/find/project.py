"""A small project that the tests search in."""

DATES = '''"""Dates."""

import re


class DateParser:
    """Parses dates."""

    def parse_date(self, text):
        """Turn a text into a date; a leap year has 366 days."""
        match = re.match(r"(\\d+)-(\\d+)", text)
        if match is None:
            raise ValueError("not a date")
        return self.leap_year(match)

    def leap_year(self, match):
        year = int(match[1])
        return year % 4 == 0
'''
QUEUE = """class JobQueue:
    def push(self, job):
        self.jobs.append(job)

    def flush(self, timeout):
        while self.jobs:
            self.jobs.pop().run(timeout)
"""
PROJECT: dict[str, str] = {
    "src/calendar_tool/dates.py": DATES,
    "src/calendar_tool/queue.py": QUEUE,
    "src/calendar_tool/__init__.py": "from calendar_tool.dates import DateParser\n",
    "tests/test_dates.py": "def test_parse_date():\n    assert DateParser().parse_date('2024-02')\n",
    "docs/dates.md": "# Dates\n\nHow `parse_date` reads a leap year.\n",
    "web/render.ts": "export class Renderer {\n  paint(canvas: Canvas): void {\n    canvas.fill();\n  }\n}\n",
    "README.md": "# Calendar tool\n",
}
