using System;
using System.Threading;

namespace Rowpath.Adapters
{
    /// <summary>No engine at all: the loop with nothing in it, or with a burn or a stall of known length.</summary>
    public sealed class NullAdapter : Adapter
    {
        Options options;

        public override void Open(Options options)
        {
            this.options = options;
        }

        public override Operation Prepare(Phase phase, object[][] rows)
        {
            if (phase.Kind != "null")
                throw new Failure("unsupported", "", "the null engine has no operation of kind " + phase.Kind);
            long burnNs = options.Number("burn_ns"), stallNs = options.Number("stall_ns");
            return burnNs == 0 && stallNs == 0
                ? (Operation)new Nothing()
                : new Busy(burnNs, stallNs, Math.Max(options.Number("stall_every"), 1));
        }

        sealed class Nothing : Operation
        {
            public override void Run(int row, SampleCounters counters)
            {
            }
        }

        sealed class Busy : Operation
        {
            readonly long burnNs;
            readonly long stallNs;
            readonly long stallEvery;
            long done;

            internal Busy(long burnNs, long stallNs, long stallEvery)
            {
                this.burnNs = burnNs;
                this.stallNs = stallNs;
                this.stallEvery = stallEvery;
            }

            public override void Run(int row, SampleCounters counters)
            {
                for (long end = Native.NowNs() + burnNs; Native.NowNs() < end;) continue;
                if (stallNs > 0 && ++done % stallEvery == 0) Thread.Sleep(new TimeSpan(stallNs / 100));
            }
        }
    }
}
