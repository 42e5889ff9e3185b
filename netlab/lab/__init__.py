"""A network by hand: cells that type, Mininet's prompt, terminals beside a notebook."""
