using System;
using System.Collections.Generic;
using System.Linq;

namespace Rowpath
{
    /// <summary>A phase as <c>prepare</c> sends it.</summary>
    public sealed class Phase
    {
        public readonly string Name;
        public readonly string Kind;
        public readonly string Sql;
        public readonly string Table;
        public readonly string Way;
        public readonly bool Scan;
        public readonly bool Transaction;
        public readonly bool Stamps;
        public readonly int RowsPerOperation;
        public readonly Column[] Columns;
        public readonly Column[] ParameterColumns;

        internal Phase(Dictionary<string, object> fields)
        {
            Name = fields.Text("name");
            Kind = fields.Text("kind");
            Sql = fields.Text("sql");
            Table = fields.Text("table");
            Way = fields.Text("way");
            Scan = fields.True("scan");
            Transaction = fields.Text("transaction") == "transaction";
            Stamps = fields.True("stamps");
            RowsPerOperation = (int)fields.Number("rows_per_operation", 1);
            object columns;
            Columns = Column.List(fields.TryGetValue("columns", out columns) ? columns : null);
            ParameterColumns = Column.List(fields.TryGetValue("parameter_columns", out columns) ? columns : null);
        }

        Phase(Phase one, string sql, Column[] parameterColumns)
        {
            Name = one.Name;
            Kind = one.Kind;
            Sql = sql;
            Table = one.Table;
            Way = one.Way;
            Scan = one.Scan;
            Transaction = one.Transaction;
            Stamps = one.Stamps;
            RowsPerOperation = one.RowsPerOperation;
            Columns = one.Columns;
            ParameterColumns = parameterColumns;
        }

        /// <summary>The phase whose INSERT of one row is one of so many.</summary>
        internal Phase OfRows(int rows)
        {
            int values = Sql.LastIndexOf("VALUES", StringComparison.OrdinalIgnoreCase);
            if (values < 0) throw new Failure("unsupported", "", "no INSERT of one row: " + Sql);
            string row = Sql.Substring(values + "VALUES".Length);
            return new Phase(this, Sql + string.Concat(Enumerable.Repeat("," + row, rows - 1)),
                Enumerable.Repeat(ParameterColumns, rows).SelectMany(columns => columns).ToArray());
        }

        /// <summary>How many operations this many parameter rows make before positions wrap; at least one.</summary>
        internal int Operations(int parameters)
        {
            if (Kind != "load") return Math.Max(parameters, 1);
            if (parameters < RowsPerOperation)
                throw new Failure("internal", "", Name + " stores " + RowsPerOperation + " rows, has " + parameters);
            return parameters / RowsPerOperation;
        }
    }
}
