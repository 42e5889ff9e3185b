"""A machine of its own for the engine, in QEMU: x86-64 Linux where there is none."""
