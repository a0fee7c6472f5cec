using System;
using Rowpath.Ado;

namespace Rowpath.Sqlite
{
    /// <summary>What SQLite has no type for and keeps as text, in and out; its settings.</summary>
    static class SqliteText
    {
        /// <summary>Whether values of the column are text in the database although they are none.</summary>
        internal static bool Kept(Column column) => Converter(column) != null;

        /// <summary>How such a column is taken; null for any other.</summary>
        internal static Getter Getter(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Decimal:
                    return column.Wide
                        ? Rowpath.Getter.FromString(Values.WideDecimalOfText)
                        : Rowpath.Getter.FromString(Values.DecimalOfText);
                case LogicalType.Date: return Rowpath.Getter.FromString(Values.DateOfText);
                case LogicalType.Time: return Rowpath.Getter.FromString(Values.TimeOfText);
                case LogicalType.Timestamp: return Rowpath.Getter.FromString(Values.TimestampOfText);
                default: return null;
            }
        }

        /// <summary>What makes text of a natural value; null where the driver takes it as it is.</summary>
        internal static Func<object, object> Converter(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Decimal:
                case LogicalType.Time:
                case LogicalType.Timestamp: return Literals.Plain;
                case LogicalType.Date: return Literals.Date;
                default: return null;
            }
        }

        /// <summary>The literal of such a value or of a boolean; null for any other.</summary>
        internal static string Literal(Column column, object value)
        {
            if (column.Type == LogicalType.Boolean) return (bool)value ? "1" : "0";
            return Kept(column) ? Literals.Quoted((string)Converter(column)(value)) : null;
        }

        internal static void Facts(Ado.Adapter adapter, Facts facts)
        {
            facts.Build = adapter.Ask("SELECT group_concat(compile_options, ' ') FROM pragma_compile_options");
            adapter.AddSettings(facts, "PRAGMA {0}", "journal_mode", "synchronous", "cache_size", "mmap_size");
        }
    }
}
