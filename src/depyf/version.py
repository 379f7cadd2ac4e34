"""The version of this package, in one place: read by `depyf.__version__`, the command line and the build."""

__version__ = "1.0.0.dev0"
