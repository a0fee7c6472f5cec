"""Pure functions: ratios, intervals, families of comparisons, groups, shapes of warming up. No I/O."""
