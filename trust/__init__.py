"""The harness: prints, offline and without a real model, what strangers' text and broken servers could do.

The judge is never the code that is judged: what was posted is read by another Markdown parser, logs and output files
by ports of the runner's grammars, effects at the servers.
"""
