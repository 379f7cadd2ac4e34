"""Code that a debugger can follow: torch's own bytecode and graphs, pointing into the dumped files."""
