"""The applications `adapter test` and `selftest`: whether a driver's adapter, and the instrument itself, are right.

In flow the words of the command line; out come lines on the console and an exit code. Both work with the parts that a
run works with: planned paths, engine instances, workers, and for `selftest` the whole schedule and analysis.

- `conformance`: `paths` finds an adapter's paths and the cases that each can run; `fixture` starts engines and
  connections; `checks` runs a case, `protocol_checks` what a runner owes the protocol whatever it hosts;
  `driver_behaviours` observes without a judgement; `report` does all of it in turn and prints it.
- `selftest`: known answers, numbered as in docs/method.md. `bench` is what they share; the answers are in
  `known_costs`, `latency`, `inference`, `delivered_rows` and `neighbours`. `cheats` holds adapters that cheat.
"""
