"""Problem sets: what their source says, and the notebooks that are made of it."""
