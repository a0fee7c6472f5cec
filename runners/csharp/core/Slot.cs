using System;
using System.Threading;

namespace Rowpath
{
    /// <summary>One client's slot in the shared counters, and its group's control words. Every store is a release: what
    /// another process reads after this one was killed is what was stored up to some instant, in the order of the
    /// program.</summary>
    sealed unsafe class Slot
    {
        internal const long Waits = 1;
        internal const long Works = 2;
        internal const long Done = 3;
        internal const long GaveUp = 4;

        const int HistogramWords = 7296;
        const int Service = 16;
        const int Latency = Service + HistogramWords;
        const int Lateness = Latency + HistogramWords;

        /// <summary>Of a slot without counts by parameter row.</summary>
        internal const long Bytes = 8L * (Lateness + HistogramWords);

        readonly long* control;
        readonly long* words;
        readonly int* acknowledged; // null: none are kept
        readonly int* doubtful;

        /// <summary><c>acknowledged</c>: the offset in the slot of <c>rows</c> counts, or 0.</summary>
        internal Slot(byte* control, byte* slot, long acknowledged, int rows)
        {
            this.control = (long*)control;
            words = (long*)slot;
            if (acknowledged == 0) return;
            this.acknowledged = (int*)(slot + acknowledged);
            doubtful = this.acknowledged + rows;
        }

        /// <summary>When the group begins; 0: not known yet.</summary>
        internal long Begins() => Volatile.Read(ref control[0]);

        /// <summary>Whether no operation begins at this instant any longer.</summary>
        internal bool Ended(long now)
        {
            long end = Volatile.Read(ref control[1]);
            return end != 0 && now >= end;
        }

        internal void State(long state)
        {
            Put(0, state);
        }

        /// <summary>The parameter row of the operation that comes next.</summary>
        internal void Next(int row)
        {
            Put(3, row);
        }

        internal void Due(long dueNs)
        {
            Put(5, dueNs);
        }

        internal void Arrivals(long arrivals)
        {
            Put(10, arrivals);
        }

        /// <summary>An operation of the row given to Next is about to begin.</summary>
        internal void Begin(long begunNs)
        {
            Put(4, begunNs);
        }

        /// <summary>The operation under way succeeded.</summary>
        internal void Acknowledge(int row)
        {
            if (acknowledged != null) Count(acknowledged + row);
        }

        /// <summary>The operation under way failed: it may or may not have been done.</summary>
        internal void Doubt(int row)
        {
            if (acknowledged != null) Count(doubtful + row);
        }

        internal void ServiceTook(long ns, long sumNs)
        {
            Record(Service, ns);
            Put(6, sumNs);
        }

        internal void LatencyWas(long ns, long sumNs)
        {
            Record(Latency, ns);
            Put(7, sumNs);
        }

        internal void LatenessWas(long ns)
        {
            Record(Lateness, ns);
        }

        /// <summary>The last thing written of a successful operation but Rest.</summary>
        internal void Succeeded(long operations, long rows)
        {
            Put(9, rows);
            Put(1, operations);
        }

        /// <summary>The last thing written of a failed operation but Rest.</summary>
        internal void Failed(long failed, long sumNs)
        {
            Put(8, sumNs);
            Put(2, failed);
        }

        /// <summary>No operation is under way.</summary>
        internal void Rest(int nextRow, long endedNs)
        {
            Put(11, endedNs);
            Put(3, nextRow);
            Put(4, 0);
        }

        void Put(int word, long value)
        {
            Volatile.Write(ref words[word], value);
        }

        static void Count(int* at)
        {
            Volatile.Write(ref *at, *at + 1);
        }

        void Record(int histogram, long ns)
        {
            int bitLength = (int)(BitConverter.DoubleToInt64Bits(ns) >> 52) - 1022; // by the exponent of a double
            int bucket = Math.Max(bitLength - 8, 0);
            int at = histogram + bucket * 128 + (int)(ns >> bucket);
            Volatile.Write(ref words[at], words[at] + 1);
        }
    }
}
