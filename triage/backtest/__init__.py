"""Tries the triage on a repository's own past: issues whose fix is known, each on the commit before the fix."""
