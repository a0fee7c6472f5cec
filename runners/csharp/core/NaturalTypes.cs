using System;
using System.Data.SqlTypes;
using System.Linq;
using System.Reflection;

namespace Rowpath
{
    /// <summary>C#'s natural type of each logical type, and the methods of Touch and Encoder that take it.</summary>
    static class NaturalTypes
    {
        static readonly Type[] Integers = { typeof(long), typeof(int), typeof(short) };

        /// <summary>The method of Touch or Encoder for a column whose getter returns that type; a Failure of kind
        /// internal when it is not natural for the column.</summary>
        internal static MethodInfo Taker(Type of, Column column, Type returned)
        {
            if (!Types(column).Contains(returned))
                throw new Failure("internal", "", "column " + column.Name + ": a getter of " + returned.Name);
            bool touch = of == typeof(Touch);
            MethodInfo method = of.GetMethod(touch ? TouchName(column) : EncoderName(column));
            return method.IsGenericMethodDefinition ? method.MakeGenericMethod(returned) : method;
        }

        static Type[] Types(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Integer: return Integers;
                case LogicalType.Decimal: return new[] { column.Wide ? typeof(SqlDecimal) : typeof(decimal) };
                case LogicalType.Float32: return new[] { typeof(float) };
                case LogicalType.Float64: return new[] { typeof(double) };
                case LogicalType.Boolean: return new[] { typeof(bool) };
                case LogicalType.Binary: return new[] { typeof(byte[]) };
                case LogicalType.Date:
                case LogicalType.Timestamp:
                case LogicalType.TimestampTz: return new[] { typeof(DateTime) };
                case LogicalType.Time: return new[] { typeof(TimeSpan) };
                case LogicalType.Interval: return new[] { typeof(Interval) };
                case LogicalType.Uuid: return new[] { typeof(Guid) };
                case LogicalType.Array: return new[] { typeof(object[]) };
                case LogicalType.Opaque: return new[] { typeof(object) };
                default: return new[] { typeof(string) };
            }
        }

        static string EncoderName(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Decimal: return column.Wide ? "WideDecimal" : "Decimal";
                case LogicalType.Boolean: return "Truth";
                case LogicalType.Char: return "Character";
                case LogicalType.Varchar:
                case LogicalType.Text:
                case LogicalType.Json: return "Text";
                case LogicalType.TimestampTz: return "Instant";
                case LogicalType.Array: return "Elements";
                default: return column.Type.ToString();
            }
        }

        static string TouchName(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Float32:
                case LogicalType.Float64: return "Float";
                case LogicalType.Char: return "Text";
                case LogicalType.Timestamp:
                case LogicalType.TimestampTz: return "Moment";
                case LogicalType.Interval:
                case LogicalType.Uuid:
                case LogicalType.Array:
                case LogicalType.Opaque: return "Other";
                default: return EncoderName(column);
            }
        }
    }
}
