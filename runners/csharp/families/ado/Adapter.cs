using System;
using System.Data.Common;
using System.Linq;

namespace Rowpath.Ado
{
    /// <summary>What all ADO.NET drivers share; a driver's own adapter connects, and overrides what
    /// differs.</summary>
    public abstract class Adapter : Rowpath.Adapter
    {
        /// <summary>The path's coordinates and the engine's options.</summary>
        protected Options Options { get; private set; }

        /// <summary>The connection that is measured.</summary>
        protected DbConnection Connection { get; private set; }

        /// <summary>A fresh, open connection with the path's options, in autocommit.</summary>
        public abstract DbConnection Connect();

        /// <summary>The class of the driver's reader.</summary>
        protected abstract Type Reader { get; }

        /// <summary>A parameter of the driver's type for the column; its value is set later.</summary>
        protected abstract DbParameter Parameter(Column column);

        /// <summary>What makes of a natural value what the driver binds, inside the clock; null where it takes the
        /// value as it is.</summary>
        protected virtual Func<object, object> Converter(Column column) => null;

        /// <summary>How a column is taken: the reader's typed getters unless the driver differs.</summary>
        protected virtual Getter Getter(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Integer:
                    return Typed(column.WideInteger ? "GetDecimal"
                        : column.Bits > 32 ? "GetInt64" : column.Bits > 16 ? "GetInt32" : "GetInt16");
                case LogicalType.Decimal:
                    return column.Wide ? Rowpath.Getter.FromString(Values.WideDecimalOfText) : Typed("GetDecimal");
                case LogicalType.Float32: return Typed("GetFloat");
                case LogicalType.Float64: return Typed("GetDouble");
                case LogicalType.Boolean: return Typed("GetBoolean");
                case LogicalType.Binary: return Rowpath.Getter.FromValue(Values.Binary);
                case LogicalType.Date:
                case LogicalType.Timestamp:
                case LogicalType.TimestampTz: return Typed("GetDateTime");
                case LogicalType.Time: return Rowpath.Getter.FromValue(Values.Time);
                case LogicalType.Uuid: return Typed("GetGuid");
                case LogicalType.Char:
                case LogicalType.Varchar:
                case LogicalType.Text:
                case LogicalType.Json: return Typed("GetString");
                case LogicalType.TimeTz: return Rowpath.Getter.FromString(Values.TimeTzOfText);
                case LogicalType.Opaque: return Typed("GetValue");
                default: return Rowpath.Getter.FromValue(Values.Anything);
            }
        }

        /// <summary>The SQL literal of a value that is not null.</summary>
        public virtual string Literal(Column column, object value) => Literals.Standard(column, value);

        /// <summary>Begins a transaction on the connection.</summary>
        public virtual DbTransaction Begin() => Connection.BeginTransaction();

        /// <summary>A typed getter of the reader.</summary>
        protected Getter Typed(string method) => Rowpath.Getter.Typed(Reader, method);

        /// <summary>A new command on the connection.</summary>
        protected internal DbCommand Command(string sql)
        {
            DbCommand command = Connection.CreateCommand();
            // The driver makes a session's setting of its timeout, which others behind a pooler would meet.
            if (Options.Get("startup", "") == "plain") command.CommandTimeout = 0;
            command.CommandText = sql;
            return command;
        }

        /// <summary>The columns' parameters, added to the command.</summary>
        internal Parameters Parameters(DbCommand command, Column[] columns) =>
            new Parameters(command, columns, Parameter, Array.ConvertAll(columns, Converter));

        public override void Open(Options options)
        {
            Options = options;
            Connection = Connect();
        }

        public override Operation Prepare(Phase phase, object[][] rows)
        {
            switch (phase.Kind)
            {
                case "connect": return new Connecting(this, phase, Loop(phase));
                case "query": return Wrapped(phase, Statement(phase, rows, Loop(phase)));
                case "execute": return Wrapped(phase, Statement(phase, rows, null));
                case "load":
                    if (phase.Way == "bulk") return Bulk(phase, rows);
                    return InTransaction(Statement(phase, rows, null), phase.RowsPerOperation);
                default:
                    throw new Failure("unsupported", "", "ADO.NET has no operation of kind " + phase.Kind);
            }
        }

        Operation Wrapped(Phase phase, Statement statement) =>
            phase.Transaction ? InTransaction(statement, 1) : statement;

        Operation InTransaction(Statement statement, int times) =>
            new InTransaction(this, new[] { statement }, new[] { times });

        Operation Bulk(Phase phase, object[][] rows)
        {
            string way = Options.Get("bulk", "none");
            if (way != "multi-row") throw new Failure("unsupported", "", "this path has no bulk way " + way);
            // Always with placeholders, as the way is named: a text of many literals would lose digits in SQLite.
            return MultiRow.Of(this, phase, rows, (joined, groups) => new Prepared(this, joined, groups, null));
        }

        Statement Statement(Phase phase, object[][] rows, RowLoop loop)
        {
            string mode = Options.Get("statement", "prepared");
            switch (mode)
            {
                case "prepared": return new Prepared(this, phase, rows, loop);
                case "bound": return new Bound(this, phase, rows, loop);
                case "text": return new Text(this, phase, rows, loop);
                default: throw new Failure("unsupported", "", "ADO.NET has no statement mode " + mode);
            }
        }

        RowLoop Loop(Phase phase) => new RowLoop(Reader, phase.Columns, phase.Columns.Select(Getter).ToArray());

        public override void Run(string sql)
        {
            using (DbCommand command = Command(sql)) command.ExecuteNonQuery();
        }

        public override void Load(Phase phase, object[][] rows)
        {
            var prepared = new Prepared(this, phase, rows, null);
            try
            {
                if (rows.Length > 0) InTransaction(prepared, rows.Length).Run(0, new SampleCounters());
            }
            finally
            {
                prepared.Close();
            }
        }

        public override Interruption.Outcome Interrupt(Interruption asked) => LongStatement.Stop(this, asked);

        public override void Facts(Facts facts)
        {
            facts.EngineVersion = Connection.ServerVersion;
            facts.Settings["autocommit"] = "on"; // ADO.NET: whatever stands in no DbTransaction
        }

        /// <summary>Records settings, each as the answer to <c>query</c> with its name in place of
        /// <c>{0}</c>.</summary>
        protected internal void AddSettings(Facts facts, string query, params string[] names)
        {
            foreach (string name in names) facts.Settings[name] = Ask(string.Format(query, name));
        }

        /// <summary>The single value of a query, as text.</summary>
        protected internal string Ask(string sql)
        {
            using (DbCommand command = Command(sql)) return Convert.ToString(command.ExecuteScalar());
        }

        public override void Close()
        {
            Connection.Dispose();
        }
    }
}
