"""What happens: networks that are up, runs, their results, and sweeps of many."""
