using System.Collections.Generic;

namespace Rowpath
{
    /// <summary>A request to have a long statement stopped: <c>Way</c> is <c>cancel</c> or <c>timeout</c>, asked for
    /// after <c>AfterMs</c>; after <c>MostMs</c> the wait ends.</summary>
    public sealed class Interruption
    {
        public readonly string Way;
        public readonly string Sql;
        public readonly int AfterMs;
        public readonly int MostMs;

        internal Interruption(Dictionary<string, object> request)
        {
            Way = request.Text("kind");
            Sql = request.Text("sql");
            AfterMs = (int)request.Number("after_ms", 1000);
            MostMs = (int)request.Number("most_ms", 10000);
        }

        /// <summary>Whether the statement ended early with an error, when, and what is left of the connection.
        /// </summary>
        public sealed class Outcome
        {
            readonly bool honoured;
            readonly long tookNs;
            readonly bool usable;
            readonly string text;

            public Outcome(bool honoured, long tookNs, bool usable, string text)
            {
                this.honoured = honoured;
                this.tookNs = tookNs;
                this.usable = usable;
                this.text = text;
            }

            internal Dictionary<string, object> Reply()
            {
                return new Dictionary<string, object>
                {
                    { "honoured", honoured }, { "took_ns", tookNs }, { "usable", usable },
                    { "text", Failure.Plain(text) }
                };
            }
        }
    }
}
