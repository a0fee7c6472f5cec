using System;
using System.Collections.Generic;
using System.Data;
using System.Data.Common;
using Mono.Data.Sqlite;
using Rowpath.Ado;
using Rowpath.Sqlite;

namespace Rowpath.Adapters
{
    /// <summary>Mono.Data.Sqlite over the system's SQLite; decimals, dates and times are text in the
    /// database.</summary>
    public sealed class MonoDataSqlite : Ado.Adapter
    {
        protected override Type Reader => typeof(SqliteDataReader);

        public override DbConnection Connect()
        {
            bool durable = Options.Get("durability", "none") == "full";
            var words = new SqliteConnectionStringBuilder
            {
                DataSource = Options.Need("path"),
                ReadOnly = Options.Get("read_only", "no") == "yes",
                Pooling = false,
                SyncMode = durable ? SynchronizationModes.Full : SynchronizationModes.Off
            };
            var connection = new SqliteConnection(words.ConnectionString);
            connection.Open();
            Execute(connection, "PRAGMA busy_timeout=60000");
            if (durable) Execute(connection, "PRAGMA journal_mode=WAL");
            return connection;
        }

        static void Execute(DbConnection connection, string sql)
        {
            using (DbCommand command = connection.CreateCommand())
            {
                command.CommandText = sql;
                command.ExecuteScalar();
            }
        }

        /// <summary>Deferred: the driver's own default would take the write lock for reading too.</summary>
        public override DbTransaction Begin() => Connection.BeginTransaction(IsolationLevel.ReadCommitted);

        protected override Getter Getter(Column column) => SqliteText.Getter(column) ?? base.Getter(column);

        protected override DbParameter Parameter(Column column) => new SqliteParameter(SqlType(column));

        protected override Func<object, object> Converter(Column column) => SqliteText.Converter(column);

        public override string Literal(Column column, object value) =>
            SqliteText.Literal(column, value) ?? base.Literal(column, value);

        public override IEnumerable<DescribedColumn> Describe(string sql) => Description.Of(this, sql);

        public override string Code(DbException error) => ((SqliteException)error).ErrorCode.ToString();

        public override void Facts(Facts facts)
        {
            base.Facts(facts);
            facts.DriverVersion = "Mono.Data.Sqlite " + typeof(SqliteConnection).Assembly.GetName().Version;
            SqliteText.Facts(this, facts);
        }

        static DbType SqlType(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Integer:
                    return column.Bits > 32 ? DbType.Int64 : column.Bits > 16 ? DbType.Int32 : DbType.Int16;
                case LogicalType.Float32: return DbType.Single;
                case LogicalType.Float64: return DbType.Double;
                case LogicalType.Boolean: return DbType.Boolean;
                case LogicalType.Binary: return DbType.Binary;
                default: return DbType.String;
            }
        }
    }
}
