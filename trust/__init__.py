"""Measures what strangers' text and broken servers can do, offline and without a real model.

No measure judges with the code that it judges: another Markdown parser reads the comment, a port of the runner's
grammar reads logs and outputs, and the servers count the effects.
"""
