using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Data.Common;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;

namespace Rowpath
{
    /// <summary>Serves requests one after the other, on the thread that runs the loop.</summary>
    sealed class Session
    {
        const int Codec = 2;
        const string RunnerName = "rowpath-csharp 1.0";
        static readonly int[] Protocol = { 3, 0 };
        static readonly string[] Requirements =
        {
            "touch", "digest", "load", "clients", "interrupt", "describe", "client-groups"
        };
        static readonly string[] NotWhileGroupsWork = { "client-groups", "sample", "verify", "prepare", "close" };

        readonly string driver;
        readonly string adapterClass;
        readonly BlockingCollection<string> requests;
        readonly int replies;
        readonly Dictionary<string, PreparedPhase> phases = new Dictionary<string, PreparedPhase>();
        Clients clients;
        ClientGroups groups;
        volatile bool ended;

        internal Session(string driver, string adapterClass, BlockingCollection<string> requests, int replies)
        {
            this.driver = driver;
            this.adapterClass = adapterClass;
            this.requests = requests;
            this.replies = replies;
        }

        /// <summary>Whether <c>bye</c> was served: the process is about to end in good order.</summary>
        internal bool Ended => ended;

        internal void Run()
        {
            try
            {
                while (!ended) Answer(requests.Take());
                Native.Exit(0);
            }
            catch (IOException broken)
            {
                Console.Error.WriteLine("the replies cannot be written: " + broken.Message);
                Native.Exit(1);
            }
        }

        void Answer(string line)
        {
            Dictionary<string, object> request;
            try
            {
                request = Json.Parse(line);
            }
            catch (FormatException noise)
            {
                Console.Error.WriteLine("not a request: " + noise.Message);
                return;
            }
            object id;
            request.TryGetValue("id", out id);
            var reply = new Dictionary<string, object> { { "id", id } };
            string type = request.Text("type");
            try
            {
                foreach (var field in Serve(type, request)) reply[field.Key] = field.Value;
            }
            catch (Exception thrown)
            {
                Adapter adapter = clients == null ? New() : clients.First;
                Func<DbException, string> codeOf = null;
                if (adapter != null) codeOf = adapter.Code;
                reply["error"] = Failure.Body(thrown, type == "open" ? "connect" : "sql", codeOf);
            }
            ended = type == "bye";
            Native.Write(replies, Encoding.UTF8.GetBytes(Json.Format(reply) + "\n"));
        }

        Dictionary<string, object> Serve(string type, Dictionary<string, object> request)
        {
            if (groups != null && NotWhileGroupsWork.Contains(type))
                throw new Failure("internal", "", "groups of clients are at work: no " + type + " meanwhile");
            switch (type)
            {
                case "hello": return Hello(request);
                case "open": return Open(request);
                case "prepare": return Prepare(request);
                case "sample":
                    return Opened().Sample(Prepared(request), request.Number("lead_in_ns", 0),
                        request.Number("duration_ns", 0), request.Number("operations", 0), request.Number("first", -1));
                case "verify": return Verify(request);
                case "client-groups": return Groups(request);
                case "client-groups-end": return GroupsEnd();
                case "run": return RunStatements(request);
                case "load": return Load(request);
                case "interrupt": return Opened().First.Interrupt(new Interruption(request)).Reply();
                case "describe": return Describe(request.Text("sql"));
                case "facts": return Facts();
                case "close": return Close();
                case "bye":
                    if (clients != null && groups == null) Close(); // else connections are in use: they go with us
                    return new Dictionary<string, object>();
                default:
                    throw Unsupported("the C# runner does not know requests of type " + type);
            }
        }

        Dictionary<string, object> Hello(Dictionary<string, object> request)
        {
            object asked;
            var version = request.TryGetValue("protocol", out asked) ? asked as List<object> : null;
            if (version == null || version.Count == 0 || !(version[0] is long) || (long)version[0] != Protocol[0])
                throw Unsupported("the C# runner speaks protocol " + Protocol[0] + ", not " + Json.Format(asked));
            if (request.Number("codec", Codec) != Codec)
                throw Unsupported("the C# runner has codec " + Codec + ", not " + request.Number("codec", Codec));
            object required;
            if (request.TryGetValue("requires", out required) && required is List<object>)
                foreach (object name in (List<object>)required)
                    if (!Requirements.Contains(name))
                        throw Unsupported("the C# runner does not know the requirement " + name);
            if (request.Text("adapter") != driver)
                throw Unsupported("this runner hosts " + driver + ", not " + request.Text("adapter"));
            return new Dictionary<string, object>
            {
                { "protocol", Protocol }, { "codec", Codec }, { "language", "csharp" }, { "runner", RunnerName },
                { "adapter", driver }, { "pid", Process.GetCurrentProcess().Id }, { "loop_tid", Native.ThreadId() },
                { "clock_read_ns", ClockReadNs() }
            };
        }

        Dictionary<string, object> Open(Dictionary<string, object> request)
        {
            if (clients != null) throw new Failure("internal", "", "a connection is open already");
            clients = new Clients(AdapterClass(), new Options((Dictionary<string, object>)request["options"]));
            try
            {
                return new Dictionary<string, object>
                {
                    { "connect_ns", clients.ConnectNs }, { "server_pid", clients.First.ServerPid() }
                };
            }
            catch (Exception)
            {
                Close();
                throw;
            }
        }

        Dictionary<string, object> Prepare(Dictionary<string, object> request)
        {
            var phase = new Phase((Dictionary<string, object>)request["phase"]);
            var rows = new object[0][];
            object given;
            var slice = request.TryGetValue("parameters", out given) ? given as Dictionary<string, object> : null;
            if (slice != null)
                rows = Decoder.Read(slice.Text("file"), phase.ParameterColumns, slice.Number("first", 0),
                    (int)slice.Number("count", 0));
            PreparedPhase prepared;
            if (phases.TryGetValue(phase.Name, out prepared))
            {
                phases.Remove(phase.Name);
                prepared.Close();
            }
            phases[phase.Name] = prepared = Opened().Prepare(phase, rows);
            return prepared.Reply();
        }

        Dictionary<string, object> Verify(Dictionary<string, object> request)
        {
            PreparedPhase prepared = Prepared(request);
            Column[] columns = prepared.Phase.Columns;
            Dictionary<string, object> reply;
            using (Stream kept = Kept(request.Text("keep")))
                reply = prepared.Samplers[0].Verify(request.Number("first", 0), request.Number("count", 1),
                    new Encoder(columns, request.Number("max_rows", 200000), kept));
            Getter[] getters = prepared.Samplers[0].Operation.Getters;
            reply["delivered"] = getters.Select(getter => getter.Delivers).ToArray();
            reply["converted"] = columns.Zip(getters, (column, getter) => getter.FromText ? column.Name : null)
                .Where(name => name != null).ToArray();
            return reply;
        }

        static Stream Kept(string file)
        {
            try
            {
                return file == "" ? null : new FileStream(file, FileMode.Create);
            }
            catch (Exception refused) when (refused is IOException || refused is UnauthorizedAccessException)
            {
                throw new Failure("internal", "", "rows cannot be kept: " + refused.Message);
            }
        }

        Dictionary<string, object> Groups(Dictionary<string, object> request)
        {
            groups = Opened().Groups(request, Prepared);
            return new Dictionary<string, object> { { "clients", groups.Clients } };
        }

        Dictionary<string, object> GroupsEnd()
        {
            if (groups == null) throw new Failure("internal", "", "no groups of clients are at work");
            var reply = new Dictionary<string, object> { { "client_groups", groups.End() } };
            groups = null;
            return reply;
        }

        Dictionary<string, object> Describe(string sql)
        {
            var columns = Opened().First.Describe(sql).Select(column => column.Reply()).ToArray();
            return new Dictionary<string, object> { { "columns", columns } };
        }

        Dictionary<string, object> RunStatements(Dictionary<string, object> request)
        {
            var ns = new List<long>();
            foreach (object statement in (List<object>)request["statements"])
            {
                long start = Native.NowNs();
                try
                {
                    Opened().First.Run((string)statement);
                }
                catch (Exception) when (request.True("ignore_errors"))
                {
                }
                ns.Add(Native.NowNs() - start);
            }
            return new Dictionary<string, object> { { "ns", ns } };
        }

        Dictionary<string, object> Load(Dictionary<string, object> request)
        {
            PreparedPhase prepared = Prepared(request);
            int count = (int)request.Number("count", 0);
            var rows = new object[count][];
            Array.Copy(prepared.Rows, (int)request.Number("first", 0), rows, 0, count);
            long start = Native.NowNs();
            Opened().First.Load(prepared.Phase, rows);
            return new Dictionary<string, object> { { "rows", count }, { "ns", Native.NowNs() - start } };
        }

        Dictionary<string, object> Facts()
        {
            var facts = new Facts();
            facts.Settings["mono_time_zone"] = TimeZoneInfo.Local.Id;
            facts.Settings["garbage_collector"] = "it reports its number of collections, but not their time";
            Opened().First.Facts(facts);
            Opened().Facts(facts.Settings);
            return new Dictionary<string, object>
            {
                { "driver_version", facts.DriverVersion }, { "engine_version", facts.EngineVersion },
                { "build", facts.Build }, { "libraries", facts.Libraries }, { "settings", facts.Settings },
                { "runtime", Runtime() }
            };
        }

        /// <summary>Mono with its version, and the environment that its compiler and its collector read.</summary>
        static string Runtime()
        {
            Type mono = Type.GetType("Mono.Runtime");
            const BindingFlags hidden = BindingFlags.NonPublic | BindingFlags.Static;
            MethodInfo displayName = mono == null ? null : mono.GetMethod("GetDisplayName", hidden);
            var words = new List<string>();
            words.Add(displayName == null ? "CLR " + Environment.Version : "Mono " + displayName.Invoke(null, null));
            words.Add("JIT, garbage collector sgen with generations 0 to " + GC.MaxGeneration);
            words.AddRange(new[] { "MONO_GC_PARAMS", "MONO_ENV_OPTIONS" }
                .Select(name => name + "=" + (Environment.GetEnvironmentVariable(name) ?? "default")));
            return string.Join("; ", words);
        }

        Dictionary<string, object> Close()
        {
            long start = Native.NowNs();
            Clients closing = Opened();
            clients = null;
            try
            {
                foreach (PreparedPhase phase in phases.Values) phase.Close();
            }
            finally
            {
                phases.Clear();
                closing.Close();
            }
            return new Dictionary<string, object> { { "close_ns", Native.NowNs() - start } };
        }

        Type AdapterClass() => Assembly.GetExecutingAssembly().GetType(adapterClass, true);

        Adapter New() => (Adapter)Activator.CreateInstance(AdapterClass());

        Clients Opened()
        {
            if (clients == null) throw new Failure("internal", "", "no connection is open");
            return clients;
        }

        PreparedPhase Prepared(Dictionary<string, object> request)
        {
            PreparedPhase prepared;
            if (!phases.TryGetValue(request.Text("phase"), out prepared))
                throw new Failure("internal", "", "the phase " + request.Text("phase") + " is not prepared");
            return prepared;
        }

        static Failure Unsupported(string text) => new Failure("unsupported", "", text);

        /// <summary>The cost of one clock read: the least of several rounds, compiled.</summary>
        static double ClockReadNs()
        {
            const int reads = 5000;
            double least = double.MaxValue;
            for (int round = 0; round < 20; round++)
            {
                long start = Native.NowNs(), last = start;
                for (int read = 0; read < reads; read++) last = Native.NowNs();
                least = Math.Min(least, (last - start) / (double)reads);
            }
            return least;
        }
    }
}
