using System.Collections.Generic;
using System.Globalization;
using System.Linq;

namespace Rowpath
{
    /// <summary>One client's part of a sample; <c>First</c> is not wrapped.</summary>
    sealed class SamplePart
    {
        internal long First, Operations, Failed, LeadInOperations, Rows, Touch, Ns, CpuNs, MinNs, MaxNs;
        internal long ExecuteNs, FirstRowNs, ConnectNs, WindowNs, WindowCpuNs;
        internal Dictionary<string, object> Failure;
    }

    /// <summary>The reply to <c>sample</c>, from what each client did.</summary>
    static class SampleReply
    {
        /// <summary>The fields of the reply; with more than one part also <c>clients</c>.</summary>
        internal static Dictionary<string, object> Of(Phase phase, SamplePart[] parts, Collector collector)
        {
            long rows = parts.Sum(part => part.Rows);
            var took = parts.Where(part => part.MinNs > 0).ToArray();
            var reply = new Dictionary<string, object>
            {
                { "ns", parts.Max(part => part.Ns) },
                { "operations", parts.Sum(part => part.Operations) },
                { "failed", parts.Sum(part => part.Failed) },
                { "failure", parts.Select(part => part.Failure).FirstOrDefault(failure => failure != null) },
                { "rows", rows },
                { "values", rows * phase.Columns.Length },
                { "touch", Hex(parts.Aggregate(0L, (sum, part) => unchecked(sum + part.Touch))) },
                { "first", parts[0].First },
                { "lead_in_operations", parts.Sum(part => part.LeadInOperations) },
                { "window_ns", parts.Max(part => part.WindowNs) },
                { "window_cpu_ns", parts.Sum(part => part.WindowCpuNs) },
                { "cpu_ns", parts.Sum(part => part.CpuNs) },
                { "min_ns", took.Length == 0 ? 0 : took.Min(part => part.MinNs) },
                { "max_ns", parts.Max(part => part.MaxNs) },
                { "execute_ns", parts.Sum(part => part.ExecuteNs) },
                { "first_row_ns", parts.Sum(part => part.FirstRowNs) },
                { "connect_ns", parts.Sum(part => part.ConnectNs) },
                { "collector_ns", 0L }, // Mono does not report how long its collector took
                { "collections", collector.Collections() }
            };
            if (parts.Length > 1) reply["clients"] = parts.Select(Client).ToArray();
            return reply;
        }

        internal static string Hex(long value) => value.ToString("x16", CultureInfo.InvariantCulture);

        static Dictionary<string, object> Client(SamplePart part)
        {
            return new Dictionary<string, object>
            {
                { "first", part.First }, { "operations", part.Operations }, { "failed", part.Failed },
                { "lead_in_operations", part.LeadInOperations }, { "rows", part.Rows }, { "ns", part.Ns },
                { "cpu_ns", part.CpuNs }, { "min_ns", part.MinNs }, { "max_ns", part.MaxNs }
            };
        }
    }
}
