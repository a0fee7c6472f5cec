"""What every path must do: cases as data, protocol checks of a runner, behaviours of a driver, on real engines."""
