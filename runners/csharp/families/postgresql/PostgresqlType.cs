using System.Collections.Generic;
using System.Data.Common;
using System.Linq;

namespace Rowpath.Postgresql
{
    /// <summary>PostgreSQL's type of a column, and the codec's: opaque where it is not compared.</summary>
    sealed class PostgresqlType
    {
        static readonly Dictionary<string, LogicalType> Types = new Dictionary<string, LogicalType>
        {
            { "bool", LogicalType.Boolean }, { "int2", LogicalType.Integer }, { "int4", LogicalType.Integer },
            { "int8", LogicalType.Integer }, { "oid", LogicalType.Integer }, { "xid", LogicalType.Integer },
            { "cid", LogicalType.Integer }, { "numeric", LogicalType.Decimal }, { "float4", LogicalType.Float32 },
            { "float8", LogicalType.Float64 }, { "bpchar", LogicalType.Char }, { "varchar", LogicalType.Varchar },
            { "text", LogicalType.Text }, { "char", LogicalType.Text }, { "name", LogicalType.Text },
            { "enum", LogicalType.Text },
            { "json", LogicalType.Json }, { "jsonb", LogicalType.Json }, { "bytea", LogicalType.Binary },
            { "bit", LogicalType.Bits }, { "varbit", LogicalType.Bits }, { "date", LogicalType.Date },
            { "time", LogicalType.Time }, { "timetz", LogicalType.TimeTz }, { "timestamp", LogicalType.Timestamp },
            { "timestamptz", LogicalType.TimestampTz }, { "interval", LogicalType.Interval },
            { "uuid", LogicalType.Uuid }
        };
        static readonly string[] LongIntegers = { "int8", "oid", "xid", "cid" };

        /// <summary>As PostgreSQL writes it, without sizes.</summary>
        internal readonly string Name;

        internal readonly LogicalType Type;
        internal readonly int Bits;

        /// <summary>Of an array its element.</summary>
        internal readonly Column[] Fields = { };

        PostgresqlType(string name, string type, bool array)
        {
            Name = name;
            Type = Types.TryGetValue(type, out Type) ? Type : LogicalType.Opaque;
            Bits = type == "int2" ? 16 : LongIntegers.Contains(type) ? 64 : 32;
            if (!array || Type == LogicalType.Opaque) return;
            Fields = new[] { new Column("", Type, bits: Bits) };
            Type = LogicalType.Array;
        }

        /// <summary>The types of the query's columns, so many, by the server itself: psqlodbc knows only the usual
        /// ones. The query is planned, not executed.</summary>
        internal static List<PostgresqlType> Of(Ado.Adapter adapter, string sql, int columns)
        {
            if (columns == 0) return new List<PostgresqlType>();
            // A name may occur twice, so the query's columns are numbered.
            IEnumerable<string> names = Enumerable.Range(0, columns).Select(at => "c" + at);
            string types = string.Join(", ", names.Select(name => "pg_typeof(" + name + ")"));
            // A domain leads to its base type, an array to its element: each step is a row, the last one counts.
            // (int2vector and oidvector are of the category of arrays, and are none.)
            string query = "WITH RECURSIVE found (types) AS (SELECT ARRAY[" + types
                + "] FROM (SELECT) AS nothing LEFT JOIN (\n" + sql
                + "\n) AS described (" + string.Join(", ", names) + ") ON false),"
                + " step (place, own, number, inside) AS ("
                + "SELECT place, each::oid, 0, false FROM found, unnest(types) WITH ORDINALITY AS every (each, place)"
                + " UNION ALL SELECT place, CASE typtype WHEN 'd' THEN typbasetype ELSE typelem END, number + 1,"
                + " inside OR typtype <> 'd' FROM step JOIN pg_catalog.pg_type ON oid = own"
                + " WHERE typtype = 'd' OR typcategory = 'A' AND typname NOT IN ('int2vector', 'oidvector'))"
                + " SELECT DISTINCT ON (place) (SELECT format_type(own, NULL) FROM step AS s"
                + " JOIN pg_catalog.pg_type ON oid = own WHERE s.place = step.place AND NOT inside AND typtype <> 'd'),"
                + " CASE WHEN typtype = 'e' THEN 'enum'"
                + " WHEN typnamespace = 'pg_catalog'::regnamespace THEN typname::text ELSE '' END,"
                + " CASE WHEN inside THEN 'yes' ELSE 'no' END FROM step JOIN pg_catalog.pg_type ON oid = own"
                + " ORDER BY place, number DESC";
            var found = new List<PostgresqlType>();
            using (DbCommand command = adapter.Command(query))
            using (DbDataReader rows = command.ExecuteReader())
                while (rows.Read())
                    found.Add(new PostgresqlType(rows.GetString(0), rows.GetString(1), rows.GetString(2) == "yes"));
            return found;
        }
    }
}
