"""Networks drawn in MiniEdit, Mininet's graphical editor: its ``.mn`` files."""

from netlab.topology.miniedit.network import read_miniedit

__all__ = ["read_miniedit"]
