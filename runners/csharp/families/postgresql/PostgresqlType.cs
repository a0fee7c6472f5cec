using System.Collections.Generic;
using System.Data.Common;
using System.Linq;

namespace Rowpath.Postgresql
{
    /// <summary>PostgreSQL's type of a column, and the codec's: opaque where it has none.</summary>
    sealed class PostgresqlType
    {
        static readonly Dictionary<string, LogicalType> Types = new Dictionary<string, LogicalType>
        {
            { "bool", LogicalType.Boolean }, { "int2", LogicalType.Integer }, { "int4", LogicalType.Integer },
            { "int8", LogicalType.Integer }, { "_int2", LogicalType.Array }, { "_int4", LogicalType.Array },
            { "_int8", LogicalType.Array }, { "numeric", LogicalType.Decimal }, { "float4", LogicalType.Float32 },
            { "float8", LogicalType.Float64 }, { "bpchar", LogicalType.Char }, { "varchar", LogicalType.Varchar },
            { "text", LogicalType.Text }, { "name", LogicalType.Text }, { "enum", LogicalType.Text },
            { "json", LogicalType.Json }, { "jsonb", LogicalType.Json }, { "bytea", LogicalType.Binary },
            { "date", LogicalType.Date }, { "time", LogicalType.Time }, { "timestamp", LogicalType.Timestamp },
            { "timestamptz", LogicalType.TimestampTz }, { "interval", LogicalType.Interval },
            { "uuid", LogicalType.Uuid }
        };

        /// <summary>As PostgreSQL writes it, without sizes.</summary>
        internal readonly string Name;

        internal readonly LogicalType Type;
        internal readonly int Bits;

        PostgresqlType(string name, string type)
        {
            Name = name;
            Type = Types.TryGetValue(type, out Type) ? Type : LogicalType.Opaque;
            Bits = type.EndsWith("int2") ? 16 : type.EndsWith("int8") ? 64 : 32;
        }

        /// <summary>The types of the query's columns, so many, by the server itself: psqlodbc knows only the usual
        /// ones. The query is planned, not executed.</summary>
        internal static List<PostgresqlType> Of(Ado.Adapter adapter, string sql, int columns)
        {
            // A name may occur twice, so the query's columns are numbered.
            IEnumerable<string> names = Enumerable.Range(0, columns).Select(at => "c" + at);
            string types = string.Join(", ", names.Select(name => "pg_typeof(" + name + ")"));
            string query = "SELECT format_type(t.oid, NULL), CASE WHEN t.typtype = 'e' THEN 'enum'"
                + " WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname::text ELSE '' END"
                + " FROM (SELECT ARRAY[" + types + "] AS types FROM (SELECT) AS nothing LEFT JOIN (\n" + sql
                + "\n) AS described (" + string.Join(", ", names) + ") ON false) AS found,"
                + " unnest(types) WITH ORDINALITY AS each (own, place) JOIN pg_catalog.pg_type AS o ON o.oid = own"
                + " JOIN pg_catalog.pg_type AS t ON t.oid = CASE o.typtype WHEN 'd' THEN o.typbasetype ELSE own END"
                + " ORDER BY place";
            var found = new List<PostgresqlType>();
            using (DbCommand command = adapter.Command(query))
            using (DbDataReader rows = command.ExecuteReader())
                while (rows.Read()) found.Add(new PostgresqlType(rows.GetString(0), rows.GetString(1)));
            return found;
        }
    }
}
