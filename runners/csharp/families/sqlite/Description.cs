using System.Collections.Generic;
using System.Data.Common;
using System.Linq;

namespace Rowpath.Sqlite
{
    /// <summary>What a query's columns are by the storage classes of its values: SQLite declares no others.</summary>
    static class Description
    {
        const int MostRows = 100000;
        const long MostNs = 2000000000;

        /// <summary>The columns by the first rows: so many, or those that came in that time.</summary>
        internal static IEnumerable<DescribedColumn> Of(Ado.Adapter adapter, string sql)
        {
            string[] names;
            using (DbCommand command = adapter.Command(sql))
            using (DbDataReader rows = command.ExecuteReader())
                names = Enumerable.Range(0, rows.FieldCount).Select(rows.GetName).ToArray();
            if (names.Length == 0) return new DescribedColumn[0];
            // A name may occur twice, so the query's columns are numbered.
            string[] numbered = Enumerable.Range(0, names.Length).Select(at => "c" + at).ToArray();
            string types = string.Join(", ", numbered.Select(name => "typeof(" + name + ")"));
            string classes = "WITH described (" + string.Join(", ", numbered) + ") AS (\n" + sql + "\n) SELECT " + types
                + " FROM described";
            var seen = names.Select(name => new SortedSet<string>()).ToArray();
            long rowsSeen = 0, until = Native.NowNs() + MostNs;
            bool ended = true;
            using (DbCommand command = adapter.Command(classes))
            using (DbDataReader rows = command.ExecuteReader())
                for (; rows.Read() && (ended = rowsSeen < MostRows && Native.NowNs() < until); rowsSeen++)
                    for (int at = 0; at < names.Length; at++) seen[at].Add(rows.GetString(at));
            string looked =
                ended ? "in all " + rowsSeen + " rows" : "in the first " + rowsSeen + " rows, no further looked at";
            return names.Select((name, at) => Made(name, seen[at], looked));
        }

        static DescribedColumn Made(string name, SortedSet<string> seen, string looked)
        {
            seen.Remove("null");
            string classes = string.Join(" and ", seen);
            string engineType = (classes == "" ? "nothing but NULL" : classes) + ", " + looked;
            var column = new Column(name, Type(classes), bits: classes == "integer" ? 64 : 32);
            return new DescribedColumn(column, engineType);
        }

        static LogicalType Type(string classes)
        {
            switch (classes)
            {
                case "":
                case "text": return LogicalType.Text;
                case "integer": return LogicalType.Integer;
                case "real": return LogicalType.Float64;
                case "blob": return LogicalType.Binary;
                default: return LogicalType.Any;
            }
        }
    }
}
