"""What every path must do: cases as data, manners of a runner, behaviours of a driver, on real engines."""
