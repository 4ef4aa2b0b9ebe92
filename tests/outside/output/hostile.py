"""Text that tries to be more than text."""

from hypothesis import strategies as st

PIECES = [
    "::",
    "##[",
    "]",
    "add-mask",
    "set-env name=PATH",
    "error",
    "stop-commands",
    "x",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\x00",
    "\x0b",
    "\x0c",
    "\x85",
    "\x1b[31m",
    "\x1b]8;;http://x\x07",
    "\u2028",
    "\u200b",
    "\u202e",
    "\ufeff",
    "\ud800",
    "%0A",
    "%25",
    "=",
    "<<",
    "EOF",
    "é",
    "😀",
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=60)
