using System;
using System.Linq;
using System.Reflection;

namespace Rowpath
{
    /// <summary>C#'s natural type of each logical type, and the methods of Touch that take it.</summary>
    static class NaturalTypes
    {
        static readonly Type[] Integers = { typeof(long), typeof(int), typeof(short) };

        /// <summary>The method of Touch for a column whose getter returns that type; a Failure of kind internal when
        /// it is not natural for the column.</summary>
        internal static MethodInfo Taker(Column column, Type returned)
        {
            if (!Types(column).Contains(returned))
                throw new Failure("internal", "", "column " + column.Name + ": a getter of " + returned.Name);
            MethodInfo method = typeof(Touch).GetMethod(returned == typeof(object) ? "Anything" : TouchName(column));
            return method.IsGenericMethodDefinition ? method.MakeGenericMethod(returned) : method;
        }

        static Type[] Types(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Integer: return column.WideInteger ? new[] { typeof(decimal) } : Integers;
                case LogicalType.Decimal: return new[] { column.Wide ? typeof(WideDecimal) : typeof(decimal) };
                case LogicalType.Float32: return new[] { typeof(float) };
                case LogicalType.Float64: return new[] { typeof(double) };
                case LogicalType.Boolean: return new[] { typeof(bool) };
                case LogicalType.Binary: return new[] { typeof(byte[]) };
                case LogicalType.Date:
                case LogicalType.Timestamp:
                case LogicalType.TimestampTz: return new[] { typeof(DateTime) };
                case LogicalType.Time: return new[] { typeof(TimeSpan) };
                case LogicalType.TimeTz: return new[] { typeof(Moment) };
                case LogicalType.Interval: return new[] { typeof(Interval), typeof(object) };
                case LogicalType.Uuid: return new[] { typeof(Guid) };
                case LogicalType.Array: return new[] { typeof(Elements), typeof(object) };
                case LogicalType.Bits:
                case LogicalType.Struct:
                case LogicalType.Map:
                case LogicalType.Rows:
                case LogicalType.Any:
                case LogicalType.Opaque: return new[] { typeof(object) };
                default: return new[] { typeof(string) };
            }
        }

        static string TouchName(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Integer: return column.WideInteger ? "Decimal" : "Integer";
                case LogicalType.Decimal: return column.Wide ? "WideDecimal" : "Decimal";
                case LogicalType.Float32:
                case LogicalType.Float64: return "Float";
                case LogicalType.Boolean: return "Truth";
                case LogicalType.Char:
                case LogicalType.Varchar:
                case LogicalType.Text:
                case LogicalType.Json: return "Text";
                case LogicalType.Binary: return "Binary";
                case LogicalType.Date: return "Date";
                case LogicalType.Time: return "Time";
                case LogicalType.TimeTz: return "ZonedTime";
                case LogicalType.Timestamp:
                case LogicalType.TimestampTz: return "Moment";
                default: return "Other";
            }
        }
    }
}
