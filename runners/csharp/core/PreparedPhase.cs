using System.Collections.Generic;

namespace Rowpath
{
    /// <summary>A phase made ready on every connection, and where its clients go on.</summary>
    sealed class PreparedPhase
    {
        internal readonly Phase Phase;
        internal readonly object[][] Rows;
        internal readonly Sampler[] Samplers; // one per client
        readonly long prepareNs;
        long next;

        internal PreparedPhase(Phase phase, object[][] rows, Sampler[] samplers, long prepareNs)
        {
            Phase = phase;
            Rows = rows;
            Samplers = samplers;
            this.prepareNs = prepareNs;
            if (samplers.Length > 1) Spread(0, phase.Operations(rows.Length));
        }

        internal Dictionary<string, object> Reply() =>
            new Dictionary<string, object> { { "prepare_ns", prepareNs }, { "parameters", Rows.Length } };

        /// <summary>Puts several clients where a sample begins; how many operations each does, Sampler.None for none
        /// and 0 for as many as the time allows.</summary>
        internal long[] Share(long operations, long first)
        {
            var shares = new long[Samplers.Length];
            if (operations == 0)
            {
                if (first >= 0) Spread(first, Phase.Operations(Rows.Length));
                return shares;
            }
            long from = first >= 0 ? first : next;
            Spread(from, operations);
            next = from + operations;
            for (int client = 0; client < shares.Length; client++)
            {
                long mine = Bound(client + 1, operations) - Bound(client, operations);
                shares[client] = mine == 0 ? Sampler.None : mine;
            }
            return shares;
        }

        /// <summary>Frees what the phase holds on the connections.</summary>
        internal void Close()
        {
            foreach (Sampler sampler in Samplers) sampler.Close();
        }

        void Spread(long first, long count)
        {
            for (int client = 0; client < Samplers.Length; client++)
                Samplers[client].Seek(first + Bound(client, count));
        }

        long Bound(int client, long count) => client * count / Samplers.Length;
    }
}
