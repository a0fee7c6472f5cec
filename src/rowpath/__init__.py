"""Rowpath measures every path that rows can take from where they are kept to the program that uses them."""

__version__ = "0.1.0"
