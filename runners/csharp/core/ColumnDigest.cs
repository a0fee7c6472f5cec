using System.Collections.Generic;

namespace Rowpath
{
    /// <summary>The digest of one column's values, and what was met in them.</summary>
    sealed class ColumnDigest : RowDigest
    {
        const long CoarsestNs = Moment.SecondNs;

        /// <summary>Whether an array has a lower bound other than 1.</summary>
        internal bool Bounds;

        long finestNs;
        long foreign;
        Foreign first;
        bool foreignHere;

        /// <summary>Nanoseconds of a time, before they are cut.</summary>
        internal void Met(long nanoseconds)
        {
            if (finestNs == 0) finestNs = CoarsestNs;
            while (nanoseconds % finestNs != 0) finestNs /= 1000;
        }

        internal void Met(Foreign value)
        {
            first = first ?? value;
            foreignHere = true;
        }

        /// <summary>Ends a value that has this hash.</summary>
        internal void Ended(ulong hash)
        {
            Add(hash);
            if (foreignHere) foreign++;
            foreignHere = false;
        }

        /// <summary>As the reply to <c>verify</c> has it: what is absent has its default.</summary>
        internal Dictionary<string, object> Reply()
        {
            var reply = new Dictionary<string, object>
            {
                { "digest", SampleReply.Hex(Sum) }, { "order", SampleReply.Hex(Order) }
            };
            if (finestNs > 0) reply["finest_ns"] = finestNs;
            if (Bounds) reply["bounds"] = true;
            if (first == null) return reply;
            reply["foreign"] = foreign;
            reply["reason"] = first.Reason;
            return reply;
        }
    }
}
