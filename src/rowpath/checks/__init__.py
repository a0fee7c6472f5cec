"""The applications that check Rowpath and its adapters: `adapter test` and `selftest`."""
