using System;
using System.Collections.Generic;
using System.Linq;

namespace Rowpath
{
    /// <summary>The clients of a path: one connection each, and a thread each where there is more than one; a single
    /// client runs on the caller's thread.</summary>
    sealed class Clients
    {
        readonly List<Adapter> adapters = new List<Adapter>();
        readonly ClientThread[] threads = new ClientThread[0];

        /// <summary>What connecting the first one took.</summary>
        internal readonly long ConnectNs;

        internal Clients(Type adapterClass, Options options)
        {
            int clients = (int)Math.Max(options.Number("clients"), 1);
            try
            {
                for (int client = 0; client < clients; client++)
                {
                    var adapter = (Adapter)Activator.CreateInstance(adapterClass);
                    long start = Native.NowNs();
                    adapter.Open(options);
                    if (client == 0) ConnectNs = Native.NowNs() - start;
                    adapters.Add(adapter);
                }
                if (clients > 1) threads = adapters.Select(adapter => new ClientThread()).ToArray();
            }
            catch (Exception)
            {
                Close();
                throw;
            }
        }

        /// <summary>The adapter of the client that also does what is not measured.</summary>
        internal Adapter First => adapters[0];

        /// <summary>The phase, made ready on every connection.</summary>
        internal PreparedPhase Prepare(Phase phase, object[][] rows)
        {
            if (threads.Length > 0 && (phase.Kind == "load" || phase.Kind == "connect"))
                throw new Failure("unsupported", "", "only one client can do the kind " + phase.Kind);
            int operations = phase.Operations(rows.Length);
            var samplers = new List<Sampler>();
            long prepareNs = 0;
            try
            {
                foreach (Adapter adapter in adapters)
                {
                    long start = Native.NowNs();
                    Operation operation = adapter.Prepare(phase, rows);
                    if (samplers.Count == 0) prepareNs = Native.NowNs() - start;
                    samplers.Add(new Sampler(phase, operation, adapter, operations));
                }
            }
            catch (Exception)
            {
                foreach (Sampler sampler in samplers) sampler.Close();
                throw;
            }
            return new PreparedPhase(phase, rows, samplers.ToArray(), prepareNs);
        }

        /// <summary>One sample through all clients; <c>operations</c> 0 means until the duration has passed,
        /// <c>first</c> below 0 to go on.</summary>
        internal Dictionary<string, object> Sample(
            PreparedPhase prepared, long leadInNs, long durationNs, long operations, long first)
        {
            var collector = new Collector();
            if (threads.Length == 0)
            {
                Sampler only = prepared.Samplers[0];
                if (first >= 0) only.Seek(first);
                SamplePart part = only.Sample(null, leadInNs, durationNs, operations);
                return SampleReply.Of(prepared.Phase, new[] { part }, collector);
            }
            long[] wanted = prepared.Share(operations, first);
            var barrier = new StartBarrier(threads.Length);
            long window = Native.NowNs();
            for (int client = 0; client < threads.Length; client++)
            {
                Sampler sampler = prepared.Samplers[client];
                long mine = wanted[client];
                threads[client].Begin(() => Together(sampler, barrier, leadInNs, durationNs, mine));
            }
            barrier.Open();
            SamplePart[] parts = threads.Select(thread => thread.End()).ToArray();
            long windowNs = Native.NowNs() - window;
            Dictionary<string, object> reply = SampleReply.Of(prepared.Phase, parts, collector);
            reply["window_ns"] = windowNs;
            return reply;
        }

        static SamplePart Together(Sampler sampler, StartBarrier barrier, long leadInNs, long durationNs, long wanted)
        {
            try
            {
                return sampler.Sample(barrier, leadInNs, durationNs, wanted);
            }
            catch (Exception)
            {
                barrier.Leave();
                throw;
            }
        }

        /// <summary>Groups of clients, waiting for their begin, each client on one of the connections.</summary>
        internal ClientGroups Groups(
            Dictionary<string, object> request, Func<Dictionary<string, object>, PreparedPhase> phases) =>
            new ClientGroups(request, adapters.Count, phases);

        /// <summary>What the connection's settings lack: how the clients run, and which CPU time is reported.</summary>
        internal void Facts(Dictionary<string, object> settings)
        {
            settings["clients"] = adapters.Count.ToString();
            if (threads.Length == 0) return;
            settings["concurrency"] = "threads";
            settings["cpu_of_clients"] = "each client's thread";
        }

        /// <summary>Closes every connection; the first error is thrown once all were tried.</summary>
        internal void Close()
        {
            Exception first = null;
            foreach (ClientThread thread in threads) thread.Stop();
            foreach (Adapter adapter in adapters)
            {
                try
                {
                    adapter.Close();
                }
                catch (Exception failed)
                {
                    first = first ?? failed;
                }
            }
            if (first != null) throw first;
        }
    }
}
