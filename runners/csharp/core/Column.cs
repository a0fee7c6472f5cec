using System;
using System.Collections.Generic;

namespace Rowpath
{
    /// <summary>The logical types (docs/codec.md).</summary>
    public enum LogicalType
    {
        Integer, Decimal, Float32, Float64, Boolean, Char, Varchar, Text, Json, Binary, Date, Time, Timestamp,
        TimestampTz, Interval, Uuid, Array, Opaque
    }

    /// <summary>One column by its declared logical type; <c>Bits</c> is an integer's width (16, 32, 64).</summary>
    public sealed class Column
    {
        const int MostDigits = 28; // of System.Decimal, all of which it keeps

        public readonly string Name;
        public readonly LogicalType Type;
        public readonly int Precision;
        public readonly int Bits;
        public readonly bool Nullable;

        internal Column(string name, LogicalType type, int precision, int bits, bool nullable)
        {
            Name = name;
            Type = type;
            Precision = precision;
            Bits = bits;
            Nullable = nullable;
        }

        /// <summary>Whether it is a decimal of more digits than System.Decimal has, or of an unknown number: its
        /// natural type is SqlDecimal.</summary>
        public bool Wide => Type == LogicalType.Decimal && (Precision > MostDigits || Precision == 0);

        /// <summary>Whether engines have values of its type that C# has none for.</summary>
        internal bool MayBeBeyond
        {
            get
            {
                switch (Type)
                {
                    case LogicalType.Decimal:
                    case LogicalType.Date:
                    case LogicalType.Time:
                    case LogicalType.Timestamp:
                    case LogicalType.TimestampTz:
                    case LogicalType.Interval:
                    case LogicalType.Array:
                    case LogicalType.Opaque: return true;
                    default: return false;
                }
            }
        }

        /// <summary>The type of that name in messages; a Failure of kind unsupported for one unknown here.</summary>
        internal static LogicalType Named(string name)
        {
            foreach (LogicalType type in Enum.GetValues(typeof(LogicalType)))
                if (type.ToString().ToLowerInvariant() == name) return type;
            throw new Failure("unsupported", "", "the C# runner does not know the logical type " + name);
        }

        /// <summary>The columns of a message's list.</summary>
        internal static Column[] List(object columns)
        {
            var list = columns as List<object>;
            if (list == null) return new Column[0];
            return list.ConvertAll(each => Of((Dictionary<string, object>)each)).ToArray();
        }

        static Column Of(Dictionary<string, object> fields)
        {
            return new Column(
                fields.Text("name"),
                Named(fields.Text("type")),
                (int)fields.Number("precision", 0),
                (int)fields.Number("bits", 32),
                fields.True("nullable"));
        }
    }
}
