"""The figures that Rowpath itself must reach. `python -m bench` measures all, `python -m bench NAME` one of them.

One module per figure; each has `measure(bench)`, which yields its figures, and its bar stands where it is measured.
"""
