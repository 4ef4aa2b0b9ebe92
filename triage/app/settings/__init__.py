"""Inputs and variables. No other package reads the environment."""
