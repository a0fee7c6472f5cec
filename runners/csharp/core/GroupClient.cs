using System;
using System.Collections.Generic;
using System.Threading;

namespace Rowpath
{
    /// <summary>One client of a group: the body of its thread, from waiting for the begin to the last
    /// operation.</summary>
    sealed class GroupClient : CacheLinePadded
    {
        const int MostFailuresInARow = 100;
        const long AfterFailureNs = 10000000;
        const long LookNs = 10000000;
        const long LookForBeginNs = 1000000;

        readonly Sampler sampler;
        readonly Slot slot;
        readonly Pacing pacing;
        readonly long wanted;
        readonly CountdownEvent coming;
        readonly SampleCounters counters = new SampleCounters();
        int row;
        long dueNs;
        int failuresInARow;
        bool over;
        long serviceNs;
        long latencyNs;
        long failedNs;

        // What it did; to be read by others once its thread has ended.
        internal readonly Dictionary<string, Dictionary<string, object>> Failures =
            new Dictionary<string, Dictionary<string, object>>();
        internal readonly int First;
        internal readonly int RowsOfItsOwn;
        internal long Operations;
        internal long Failed;
        internal long BegunNs; // 0: never
        internal long EndedNs;
        internal long CpuNs;

        /// <summary>Does what the sampler's client does on its connection. <c>wanted</c> 0: until the end;
        /// <c>coming</c> is signalled once it waits.</summary>
        internal GroupClient(Sampler sampler, Slot slot, Pacing pacing, int first, int rowsOfItsOwn, long wanted,
            CountdownEvent coming)
        {
            this.sampler = sampler;
            this.slot = slot;
            this.pacing = pacing;
            First = first;
            RowsOfItsOwn = rowsOfItsOwn;
            this.wanted = wanted;
            this.coming = coming;
            row = first;
        }

        /// <summary>Rows delivered.</summary>
        internal long Rows => counters.Rows;

        /// <summary>Their touch sum.</summary>
        internal long Touch => counters.Touch;

        internal void Run()
        {
            long cpu = Native.ThreadCpuNs();
            Native.WakePromptly();
            slot.Next(row);
            slot.State(Slot.Waits);
            coming.Signal();
            try
            {
                Work();
            }
            catch (Exception broken) // ours, not the driver's
            {
                Fail(broken);
                slot.Failed(Failed, failedNs);
                failuresInARow = MostFailuresInARow;
            }
            finally
            {
                CpuNs = Native.ThreadCpuNs() - cpu;
                slot.State(failuresInARow < MostFailuresInARow ? Slot.Done : Slot.GaveUp);
            }
        }

        void Work()
        {
            long zero = slot.Begins();
            for (; zero == 0 && !slot.Ended(Native.NowNs()); zero = slot.Begins()) Native.Sleep(LookForBeginNs);
            long now = zero == 0 ? Native.NowNs() : Until(zero, pacing.SpinNs);
            if (slot.Ended(now)) return;
            BegunNs = now;
            BecomeDue(zero);
            slot.State(Slot.Works);
            while (!over) now = Turn(now, zero);
        }

        /// <summary>One operation with the wait before it; returns when it ended.</summary>
        long Turn(long now, long zero)
        {
            bool idle = pacing.Open && now < dueNs;
            long begun = idle ? Until(dueNs, pacing.SpinNs) : now;
            if (slot.Ended(begun) || slot.Ended(dueNs))
            {
                over = true;
                return begun;
            }
            if (pacing.Open) slot.Arrivals(Operations + Failed + 1);
            slot.Begin(begun);
            Exception thrown = null;
            counters.Begin(begun);
            try
            {
                sampler.Operation.Run(row, counters);
            }
            catch (Exception any)
            {
                thrown = any;
            }
            long ended = Native.NowNs();
            if (thrown == null)
            {
                Succeed(begun, ended, idle);
            }
            else
            {
                slot.Doubt(row);
                Fail(thrown);
                failedNs += ended - begun;
                slot.Failed(Failed, failedNs);
            }
            EndedNs = ended;
            if (++row == First + RowsOfItsOwn) row = First;
            BecomeDue(zero);
            slot.Rest(row, ended);
            over = Operations + Failed == wanted || failuresInARow == MostFailuresInARow;
            long pause = thrown == null ? pacing.PauseNs : Math.Max(AfterFailureNs, pacing.PauseNs);
            return over || pause == 0 ? ended : Until(ended + pause, 0);
        }

        void BecomeDue(long zero)
        {
            if (!pacing.Open) return;
            dueNs = zero + pacing.Next();
            slot.Due(dueNs);
        }

        void Succeed(long begun, long ended, bool idle)
        {
            slot.Acknowledge(row);
            serviceNs += ended - begun;
            slot.ServiceTook(ended - begun, serviceNs);
            if (pacing.Open)
            {
                latencyNs += ended - dueNs;
                slot.LatencyWas(ended - dueNs, latencyNs);
                if (idle) slot.LatenessWas(begun - dueNs);
            }
            failuresInARow = 0;
            slot.Succeeded(++Operations, counters.Rows);
        }

        void Fail(Exception thrown)
        {
            counters.Undo();
            Failed++;
            failuresInARow++;
            Dictionary<string, object> body = Failure.Body(thrown, "sql", sampler.Adapter.Code), known;
            string way = body["kind"] + " " + body["code"];
            if (!Failures.TryGetValue(way, out known)) Failures[way] = known = body;
            known["count"] = known.Number("count", 0) + 1;
        }

        /// <summary>Sleeps until so long before an instant, then spins; returns the instant it is, or the
        /// end.</summary>
        long Until(long instant, long spinning)
        {
            long now = Native.NowNs();
            while (now < instant && !slot.Ended(now))
            {
                long left = instant - now - spinning;
                if (left > 0) Native.Sleep(Math.Min(left, LookNs));
                else Thread.SpinWait(1);
                now = Native.NowNs();
            }
            return now;
        }
    }
}
