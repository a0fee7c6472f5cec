using System;
using System.Collections.Generic;

namespace Rowpath
{
    /// <summary>The loop of one client in one phase, with its clock and its position.</summary>
    sealed class Sampler : CacheLinePadded
    {
        /// <summary>Wanted operations of a client that has no part in a sample.</summary>
        internal const long None = -1;

        const int MostFailures = 100;

        /// <summary>What the client does, ready on its connection.</summary>
        internal readonly Operation Operation;

        /// <summary>Whose connection that is.</summary>
        internal readonly Adapter Adapter;

        readonly Phase phase;
        readonly int operationsBeforeWrap;
        readonly SampleCounters counters = new SampleCounters();
        long position;
        int row;

        long operations;
        long failed;
        long minNs;
        long maxNs;
        Dictionary<string, object> failure;

        internal Sampler(Phase phase, Operation operation, Adapter adapter, int operationsBeforeWrap)
        {
            this.phase = phase;
            Operation = operation;
            Adapter = adapter;
            this.operationsBeforeWrap = operationsBeforeWrap;
        }

        /// <summary>Lead-in and block. With a barrier all clients' blocks begin when it opens and last as long: waiting
        /// for a core after that is a client's own time.</summary>
        internal SamplePart Sample(StartBarrier barrier, long leadInNs, long durationNs, long wanted)
        {
            counters.Stamps = phase.Stamps && phase.Kind != "load"; // has many executes
            long windowCpu = Native.ThreadCpuNs();
            long window = Native.NowNs();
            Reset();
            if (leadInNs > 0) Block(window, leadInNs, 0);
            var part = new SamplePart { LeadInOperations = operations };
            Reset();
            part.First = position;
            long begun = barrier == null ? 0 : barrier.Join();
            long cpu = Native.ThreadCpuNs();
            long start = Native.NowNs();
            if (barrier == null) begun = start;
            long end = wanted == None ? start : Block(start, durationNs - (start - begun), wanted);
            long cpuAfter = Native.ThreadCpuNs();
            part.Operations = operations;
            part.Failed = failed;
            part.Failure = failure;
            part.Rows = counters.Rows;
            part.Touch = counters.Touch;
            part.Ns = end - begun;
            part.CpuNs = cpuAfter - cpu;
            part.MinNs = maxNs == 0 ? 0 : minNs;
            part.MaxNs = maxNs;
            part.ExecuteNs = counters.ExecuteNs;
            part.FirstRowNs = counters.FirstRowNs;
            part.ConnectNs = counters.ConnectNs;
            part.WindowNs = end - window;
            part.WindowCpuNs = cpuAfter - windowCpu;
            return part;
        }

        /// <summary>Operations <c>[first, first + count)</c> with a digest; the first failure is thrown.</summary>
        internal Dictionary<string, object> Verify(long first, long count, Encoder encoder)
        {
            long resume = position;
            Seek(first);
            Reset();
            counters.Stamps = false;
            counters.Encoder = encoder;
            try
            {
                for (long done = 0; done < count; done++)
                {
                    Operation.Run(row, counters);
                    Seek(position + 1);
                }
            }
            finally
            {
                counters.Encoder = null;
                Seek(resume);
            }
            Dictionary<string, object> reply = encoder.Reply();
            reply["rows"] = counters.Rows;
            reply["touch"] = SampleReply.Hex(counters.Touch);
            reply["operations"] = count;
            return reply;
        }

        /// <summary>Frees what the phase holds on the connection.</summary>
        internal void Close()
        {
            Operation.Close();
        }

        /// <summary>Goes to a position, not wrapped.</summary>
        internal void Seek(long to)
        {
            position = to;
            row = (int)(to % operationsBeforeWrap);
        }

        void Reset()
        {
            operations = 0;
            failed = 0;
            failure = null;
            minNs = long.MaxValue;
            maxNs = 0;
            counters.Reset();
        }

        /// <summary>Runs until the duration has passed, or the wanted number when that is not 0; the last
        /// stamp.</summary>
        long Block(long start, long durationNs, long wanted)
        {
            long now = start;
            do
            {
                now = Step(now);
            } while ((wanted > 0 ? operations + failed < wanted : now - start < durationNs) && failed < MostFailures);
            return now;
        }

        long Step(long start)
        {
            counters.Begin(start);
            try
            {
                Operation.Run(row, counters);
                operations++;
            }
            catch (Exception thrown)
            {
                Fail(thrown);
            }
            position++;
            if (++row == operationsBeforeWrap) row = 0;
            long end = Native.NowNs();
            long ns = end - start;
            if (ns < minNs) minNs = ns;
            if (ns > maxNs) maxNs = ns;
            return end;
        }

        void Fail(Exception thrown)
        {
            counters.Undo();
            failed++;
            if (failure == null) failure = Failure.Body(thrown, "sql", Adapter.Code);
        }
    }
}
