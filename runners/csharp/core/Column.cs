using System;
using System.Collections.Generic;
using System.Linq;

namespace Rowpath
{
    /// <summary>The logical types (docs/codec.md).</summary>
    public enum LogicalType
    {
        Integer, Decimal, Float32, Float64, Boolean, Char, Varchar, Text, Json, Binary, Bits, Date, Time, TimeTz,
        Timestamp, TimestampTz, Interval, Uuid, Array, Struct, Map, Rows, Any, Opaque
    }

    /// <summary>One column by its declared logical type; <c>Bits</c> is an integer's width (16, 32, 64,
    /// 128).</summary>
    public sealed class Column
    {
        const int MostDigits = 28; // of System.Decimal, all of which it keeps

        public readonly string Name;
        public readonly LogicalType Type;
        public readonly int Length;
        public readonly int Precision;
        public readonly int Scale;
        public readonly int Bits;
        public readonly bool Nullable;

        /// <summary>What a nested type consists of; of an array its one element.</summary>
        public readonly Column[] Fields;

        /// <summary>Nanoseconds are cut to a multiple of it.</summary>
        internal readonly long UnitNs = 1;

        /// <summary>Half a unit is added before.</summary>
        internal readonly bool Rounded;

        /// <summary>Whether lower bounds of arrays are encoded.</summary>
        internal readonly bool Bounds = true;

        public Column(string name, LogicalType type, int precision = 0, int bits = 32, bool nullable = true,
            int length = 0, int scale = 0, params Column[] fields)
        {
            Name = name;
            Type = type;
            Length = length;
            Precision = precision;
            Scale = scale;
            Bits = bits;
            Nullable = nullable;
            Fields = fields;
        }

        Column(Dictionary<string, object> given, Column around)
        {
            object fields;
            Name = given.Text("name");
            Type = Named(given.Text("type"));
            Length = (int)given.Number("length", 0);
            Precision = (int)given.Number("precision", 0);
            Scale = (int)given.Number("scale", 0);
            Bits = (int)given.Number("bits", 32);
            Nullable = given.True("nullable");
            UnitNs = around == null ? given.Number("unit_ns", 1) : around.UnitNs;
            Rounded = around == null ? given.True("rounded") : around.Rounded;
            Bounds = around == null ? !given.ContainsKey("bounds") || given.True("bounds") : around.Bounds;
            Fields = given.TryGetValue("fields", out fields) ? List(fields, this) : new Column[0];
        }

        /// <summary>Whether it is a decimal of more digits than System.Decimal has, or of an unknown number: its
        /// natural type is WideDecimal.</summary>
        public bool Wide => Type == LogicalType.Decimal && (Precision > MostDigits || Precision == 0);

        /// <summary>Whether it is an integer of more bits than C#'s own have: its natural type is
        /// System.Decimal.</summary>
        internal bool WideInteger => Type == LogicalType.Integer && Bits > 64;

        internal bool Nested => Type == LogicalType.Array || Type == LogicalType.Struct || Type == LogicalType.Map
                                || Type == LogicalType.Rows;

        /// <summary>An array's element; without fields an integer.</summary>
        internal Column Element => Fields.Length > 0 ? Fields[0] : new Column("", LogicalType.Integer, 0, Bits);

        /// <summary>The type's name in messages.</summary>
        internal string TypeName => Type.ToString().ToLowerInvariant();

        /// <summary>The type of that name in messages; a Failure of kind unsupported for one unknown here.</summary>
        internal static LogicalType Named(string name)
        {
            foreach (LogicalType type in Enum.GetValues(typeof(LogicalType)))
                if (type.ToString().ToLowerInvariant() == name) return type;
            throw new Failure("unsupported", "", "the C# runner does not know the logical type " + name);
        }

        /// <summary>The columns of a message's list.</summary>
        internal static Column[] List(object columns) => List(columns, null);

        static Column[] List(object columns, Column around)
        {
            var list = columns as List<object>;
            if (list == null) return new Column[0];
            return list.Select(each => new Column((Dictionary<string, object>)each, around)).ToArray();
        }
    }
}
