"""What students hand in: read safely, looked at before, and put right after."""
