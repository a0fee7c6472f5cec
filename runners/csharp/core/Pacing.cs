using System;
using System.Collections.Generic;

namespace Rowpath
{
    /// <summary>When the operations of one client are due, and how it waits; of a closed loop none is ever
    /// due.</summary>
    sealed class Pacing
    {
        const double NsPerS = 1e9;
        const double BelowOne = 1.0 / (1L << 53);

        /// <summary>Whether operations are due whatever the others do.</summary>
        internal readonly bool Open;

        /// <summary>Closed loop: between two operations.</summary>
        internal readonly long PauseNs;

        /// <summary>Open loop: for how long before an operation is due the client does not sleep any more.</summary>
        internal readonly long SpinNs;

        readonly bool poisson;
        readonly double distanceNs;
        readonly double firstNs;
        ulong state;
        double drawnNs;
        long drawn;

        /// <summary>Of client <c>client</c> of the group with these fields of the request
        /// <c>client-groups</c>.</summary>
        internal Pacing(Dictionary<string, object> fields, int client)
        {
            string pacing = fields.Text("pacing");
            double ratePerS = fields.Real("rate_per_s");
            long clients = fields.Number("clients", 0);
            Open = pacing != "closed";
            poisson = pacing == "poisson";
            if (Open && !poisson && pacing != "fixed")
                throw new Failure("unsupported", "", "the C# runner has no pacing " + pacing);
            if (!Open)
            {
                PauseNs = fields.Number("pause_ns", 0);
                return;
            }
            if (!(ratePerS > 0))
                throw new Failure("internal", "", pacing + " pacing at a rate of " + ratePerS + " a second");
            SpinNs = fields.Number("spin_ns", 0);
            distanceNs = clients / ratePerS * NsPerS;
            firstNs = distanceNs * client / clients;
            state = unchecked((ulong)(fields.Number("seed", 0) + client));
        }

        /// <summary>When the next operation is due, in ns after the begin; each call goes one operation on.</summary>
        internal long Next()
        {
            if (!poisson) return (long)(firstNs + drawn++ * distanceNs);
            drawnNs -= Math.Log(1 - (Draw() >> 11) * BelowOne) * distanceNs;
            return (long)drawnNs;
        }

        /// <summary>SplitMix64 (Steele, Lea, Flood 2014).</summary>
        ulong Draw()
        {
            unchecked
            {
                state += 0x9E3779B97F4A7C15;
                ulong mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9;
                mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
                return mixed ^ mixed >> 31;
            }
        }
    }
}
