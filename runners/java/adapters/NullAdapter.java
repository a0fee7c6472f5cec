package rowpath.adapters;

import rowpath.Adapter;
import rowpath.Failure;
import rowpath.Operation;
import rowpath.Options;
import rowpath.Phase;

/** No engine at all: the loop with nothing in it, or with a burn or a stall of known length. */
public final class NullAdapter implements Adapter {
  private Options options;

  @Override
  public void open(Options options) {
    this.options = options;
  }

  @Override
  public Operation prepare(Phase phase, Object[][] rows) {
    if (!phase.kind().equals("null")) {
      throw new Failure(
          "unsupported", "", "the null engine has no operation of kind " + phase.kind());
    }
    long burnNs = options.number("burn_ns");
    long stallNs = options.number("stall_ns");
    long stallEvery = Math.max(options.number("stall_every"), 1);
    if (burnNs == 0 && stallNs == 0) {
      return (row, counters) -> {};
    }
    long[] done = new long[1];
    return (row, counters) -> {
      if (burnNs > 0) {
        long end = System.nanoTime() + burnNs;
        while (System.nanoTime() < end) {
          Thread.onSpinWait();
        }
      }
      if (stallNs > 0 && ++done[0] % stallEvery == 0) {
        Thread.sleep(stallNs / 1_000_000, (int) (stallNs % 1_000_000));
      }
    };
  }
}
