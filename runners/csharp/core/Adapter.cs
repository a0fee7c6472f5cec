using System.Collections.Generic;
using System.Data.Common;

namespace Rowpath
{
    /// <summary>One driver. Exceptions of any kind are allowed: the core turns them into the protocol's
    /// errors.</summary>
    public abstract class Adapter
    {
        /// <summary>Connects; what it took is measured by the core.</summary>
        public abstract void Open(Options options);

        /// <summary>The operation of a phase on the open connection; <c>rows</c> are its parameters.</summary>
        public abstract Operation Prepare(Phase phase, object[][] rows);

        /// <summary>Executes one statement, committed.</summary>
        public virtual void Run(string sql)
        {
            throw new Failure("unsupported", "", "this path has no engine that executes statements");
        }

        /// <summary>Executes the phase's statement with these rows in one transaction.</summary>
        public virtual void Load(Phase phase, object[][] rows)
        {
            throw new Failure("unsupported", "", "this path cannot load rows");
        }

        /// <summary>The columns of a query's result, as the reply to <c>describe</c> has them.</summary>
        public virtual IEnumerable<DescribedColumn> Describe(string sql)
        {
            throw new Failure("unsupported", "", "this path describes no queries");
        }

        /// <summary>Has a long statement stopped in the driver's own way.</summary>
        public virtual Interruption.Outcome Interrupt(Interruption asked)
        {
            throw new Failure("unsupported", "", "this path has no statements that could be stopped");
        }

        /// <summary>The driver's own code of an error; empty when it has none.</summary>
        public virtual string Code(DbException error) => "";

        /// <summary>The backend that serves this connection, or null.</summary>
        public virtual int? ServerPid() => null;

        /// <summary>Adds to the reply to <c>facts</c>, read from the live connection.</summary>
        public virtual void Facts(Facts facts)
        {
        }

        /// <summary>Closes what Open opened.</summary>
        public virtual void Close()
        {
        }
    }

    /// <summary>The reply to <c>facts</c>: settings and libraries by name.</summary>
    public sealed class Facts
    {
        public string DriverVersion = "";
        public string EngineVersion = "";
        public string Build = "";
        public readonly Dictionary<string, object> Settings = new Dictionary<string, object>();
        public readonly Dictionary<string, object> Libraries = new Dictionary<string, object>();
    }
}
