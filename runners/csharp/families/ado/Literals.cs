using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Rowpath.Ado
{
    /// <summary>SQL texts with the values inside (statement mode <c>text</c>).</summary>
    public static class Literals
    {
        /// <summary>One text per row: each placeholder outside of quotes replaced by the literal of its
        /// value.</summary>
        internal static string[] Texts(Phase phase, object[][] rows, Func<Column, object, string> literal)
        {
            Column[] columns = phase.ParameterColumns;
            if (columns.Length == 0) return new[] { phase.Sql };
            List<string> pieces = Split(phase.Sql);
            if (pieces.Count != columns.Length + 1)
                throw new Failure("internal", "",
                    pieces.Count - 1 + " placeholders for " + columns.Length + " columns");
            return Array.ConvertAll(rows, row =>
            {
                var text = new StringBuilder(pieces[0]);
                for (int at = 0; at < columns.Length; at++)
                    text.Append(row[at] == null ? "NULL" : literal(columns[at], row[at])).Append(pieces[at + 1]);
                return text.ToString();
            });
        }

        /// <summary>The literal in standard SQL: numbers plain, binary as X'…', all else quoted text.</summary>
        public static string Standard(Column column, object value)
        {
            switch (column.Type)
            {
                case LogicalType.Integer:
                case LogicalType.Decimal:
                case LogicalType.Float32:
                case LogicalType.Float64: return Plain(value);
                case LogicalType.Boolean: return (bool)value ? "TRUE" : "FALSE";
                case LogicalType.Binary: return "X'" + Hex(value) + "'";
                default: return Quoted(Plain(value));
            }
        }

        /// <summary>A quoted string.</summary>
        public static string Quoted(string text) => "'" + text.Replace("'", "''") + "'";

        /// <summary>Hexadecimal digits.</summary>
        public static string Hex(object bytes) => BitConverter.ToString((byte[])bytes).Replace("-", "");

        /// <summary>A value as text: numbers in a form that reads back the same, dates and times by ISO 8601.</summary>
        public static string Plain(object value)
        {
            if (value is DateTime)
                return ((DateTime)value).ToString("yyyy-MM-dd HH:mm:ss.FFFFFFF", CultureInfo.InvariantCulture);
            if (value is TimeSpan)
                return (DateTime.MinValue + (TimeSpan)value).ToString("HH:mm:ss.FFFFFFF", CultureInfo.InvariantCulture);
            if (value is double) return ((double)value).ToString("R", CultureInfo.InvariantCulture);
            if (value is float) return ((float)value).ToString("R", CultureInfo.InvariantCulture);
            return Convert.ToString(value, CultureInfo.InvariantCulture);
        }

        /// <summary>A date by ISO 8601.</summary>
        public static string Date(object value) =>
            ((DateTime)value).ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);

        static List<string> Split(string sql)
        {
            var pieces = new List<string>();
            char quote = '\0';
            int from = 0;
            for (int at = 0; at < sql.Length; at++)
            {
                char character = sql[at];
                if (quote != '\0')
                {
                    if (character == quote) quote = '\0';
                }
                else if (character == '\'' || character == '"')
                {
                    quote = character;
                }
                else if (character == '?')
                {
                    pieces.Add(sql.Substring(from, at - from));
                    from = at + 1;
                }
            }
            pieces.Add(sql.Substring(from));
            return pieces;
        }
    }
}
