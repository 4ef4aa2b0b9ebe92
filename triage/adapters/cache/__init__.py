"""The cache between jobs: replies that were paid for."""
