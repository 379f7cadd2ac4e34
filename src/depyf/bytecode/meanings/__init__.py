"""What opcodes mean, by theme: the row functions that the versions' tables pick from."""
