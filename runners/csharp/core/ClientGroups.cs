using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

namespace Rowpath
{
    /// <summary>Groups of clients at work at once, a thread for each client.</summary>
    sealed class ClientGroups
    {
        const int MostFailuresTold = 16;
        static readonly string[] Kinds = { "query", "execute", "null" };

        readonly List<Group> groups = new List<Group>();
        readonly Thread[] threads;
        readonly SharedCounters shared;

        /// <summary>Has all clients wait for their groups' begin.</summary>
        internal ClientGroups(
            Dictionary<string, object> request, int connections, Func<Dictionary<string, object>, PreparedPhase> phases)
        {
            var taken = new bool[connections];
            var asked = ((List<object>)request["client_groups"]).ConvertAll(one => (Dictionary<string, object>)one);
            var coming = new CountdownEvent(asked.Sum(fields => (int)fields.Number("clients", 0)));
            shared = new SharedCounters(request.Text("shared_counters"));
            try
            {
                foreach (Dictionary<string, object> fields in asked)
                {
                    Take(taken, (int)fields.Number("first_client", 0), (int)fields.Number("clients", 0));
                    groups.Add(Made(fields, phases(fields), coming));
                }
            }
            catch (Exception)
            {
                shared.Dispose();
                throw;
            }
            threads = groups.SelectMany(group => group.Clients).Select(client => ClientThread.Started(client.Run))
                .ToArray();
            coming.Wait();
        }

        internal int Clients => threads.Length;

        /// <summary>Waits until every client is done; what each group did.</summary>
        internal Dictionary<string, object>[] End()
        {
            foreach (Thread thread in threads) thread.Join();
            shared.Dispose();
            return groups.Select(group => group.Total()).ToArray();
        }

        static void Take(bool[] taken, int first, int clients)
        {
            for (int client = first; client < first + clients; client++)
            {
                if (client < 0 || client >= taken.Length || taken[client])
                    throw new Failure("internal", "", "client " + client + " is not there, or in two groups at once");
                taken[client] = true;
            }
        }

        Group Made(Dictionary<string, object> fields, PreparedPhase prepared, CountdownEvent coming)
        {
            Phase phase = prepared.Phase;
            if (!Kinds.Contains(phase.Kind))
                throw new Failure("unsupported", "", "no group does operations of kind " + phase.Kind);
            if (fields.Text("dispatch") == "shared")
                throw new Failure("unsupported", "", "clients have no shared dispatch here");
            int clients = (int)fields.Number("clients", 0);
            int rows = phase.Operations(prepared.Rows.Length);
            long slotBytes = fields.Number("slot_bytes", 0);
            var made = new List<GroupClient>();
            for (int client = 0; client < clients; client++)
            {
                Slot slot = shared.Slot(fields.Number("control", 0), fields.Number("slots", 0) + client * slotBytes,
                    slotBytes, fields.Number("acknowledged", 0), rows);
                int first = rows < clients ? client % rows : Bound(client, rows, clients);
                int own = rows < clients ? 1 : Bound(client + 1, rows, clients) - first;
                made.Add(new GroupClient(prepared.Samplers[(int)fields.Number("first_client", 0) + client], slot,
                    new Pacing(fields, client), first, own, fields.Number("operations", 0), coming));
            }
            return new Group(fields.Text("name"), phase, made);
        }

        static int Bound(int client, int rows, int clients) => (int)((long)client * rows / clients);

        /// <summary>One group, and the reply's words about it.</summary>
        sealed class Group
        {
            internal readonly List<GroupClient> Clients;
            readonly string name;
            readonly Phase phase;

            internal Group(string name, Phase phase, List<GroupClient> clients)
            {
                this.name = name;
                this.phase = phase;
                Clients = clients;
            }

            internal Dictionary<string, object> Total()
            {
                long rows = Clients.Sum(client => client.Rows);
                return new Dictionary<string, object>
                {
                    { "name", name },
                    { "operations", Clients.Sum(client => client.Operations) },
                    { "failed", Clients.Sum(client => client.Failed) },
                    { "failures", Failures() },
                    { "rows", rows },
                    { "values", rows * phase.Columns.Length },
                    { "touch", SampleReply.Hex(Clients.Aggregate(0L, (sum, client) => unchecked(sum + client.Touch))) },
                    {
                        "begun_ns",
                        Clients.Select(client => client.BegunNs).Where(ns => ns > 0).DefaultIfEmpty(0).Min()
                    },
                    { "ended_ns", Clients.Max(client => client.EndedNs) },
                    { "cpu_ns", Clients.Sum(client => client.CpuNs) },
                    { "clients", Clients.Select(Shown).ToArray() }
                };
            }

            Dictionary<string, object>[] Failures()
            {
                var all = new Dictionary<string, Dictionary<string, object>>();
                foreach (var failure in Clients.SelectMany(client => client.Failures))
                {
                    if (all.ContainsKey(failure.Key))
                        all[failure.Key]["count"] = Count(all[failure.Key]) + Count(failure.Value);
                    else all[failure.Key] = failure.Value;
                }
                return all.Values.OrderByDescending(Count).Take(MostFailuresTold).ToArray();
            }

            static long Count(Dictionary<string, object> failure) => failure.Number("count", 0);

            static Dictionary<string, object> Shown(GroupClient client)
            {
                return new Dictionary<string, object>
                {
                    { "first", client.First }, { "rows_of_its_own", client.RowsOfItsOwn },
                    { "operations", client.Operations }, { "failed", client.Failed }
                };
            }
        }
    }
}
