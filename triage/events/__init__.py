"""Pure: webhook payload to task, or to the reason for skipping it."""
