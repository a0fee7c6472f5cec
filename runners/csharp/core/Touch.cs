using System;
using System.Data.SqlTypes;

namespace Rowpath
{
    /// <summary>What one value adds to the touch sum (docs/codec.md), by its natural type; NULL adds 1.</summary>
    public static class Touch
    {
        const double Exact = 1L << 53;
        const long NoNumber = 3, Others = 5;

        public static long Integer(long value) => value;

        public static long Decimal(decimal value)
        {
            if (value > long.MinValue && value < long.MaxValue) return (long)value;
            int[] bits = decimal.GetBits(decimal.Truncate(value));
            return Signed(bits[0], bits[1], value < 0);
        }

        public static long WideDecimal(WideDecimal value)
        {
            if (value.Text != null) return Plain(PlainDecimal.Of(value.Text));
            SqlDecimal number = value.Value;
            int[] bits = SqlDecimal.AdjustScale(number, -number.Scale, false).Data; // Truncate keeps the scale
            return Signed(bits[0], bits[1], !number.IsPositive);
        }

        public static long Float(double value) => Math.Abs(value) < Exact ? (long)value : NoNumber;

        public static long Truth(bool value) => value ? 1 : 0;

        public static long Text(string value) => value.Length;

        public static long Binary(byte[] value) => value.Length;

        public static long Date(DateTime value) => value.Day;

        public static long Time(TimeSpan value) => Math.Abs(value.Seconds);

        public static long ZonedTime(Moment value) => value.Second;

        public static long Moment(DateTime value) => value.Second;

        /// <summary>Intervals, UUIDs, arrays.</summary>
        public static long Other<T>(T value) => Others;

        /// <summary>What has a form of the driver's own, NULL too.</summary>
        public static long Anything(object value) => value is DBNull ? 1 : Others;

        /// <summary>The same of a value in the form that NearestForm gives it.</summary>
        internal static long Of(Column column, object value)
        {
            if (value == null) return 1;
            if (value is Foreign) return Others;
            switch (column.Type)
            {
                case LogicalType.Integer:
                case LogicalType.Decimal: return Plain((string)value);
                case LogicalType.Float32:
                case LogicalType.Float64: return Float((double)value);
                case LogicalType.Boolean: return Truth((bool)value);
                case LogicalType.Char:
                case LogicalType.Varchar:
                case LogicalType.Text:
                case LogicalType.Json:
                case LogicalType.Binary:
                    var bytes = value as byte[];
                    return bytes == null ? Text((string)value) : Binary(bytes);
                case LogicalType.Date: return value is Moment ? ((Moment)value).Day : Others;
                case LogicalType.Time:
                case LogicalType.TimeTz:
                case LogicalType.Timestamp:
                case LogicalType.TimestampTz: return value is Moment ? ((Moment)value).Second : Others;
                default: return Others;
            }
        }

        static long Plain(string number) =>
            number == null ? Others : PlainDecimal.Finite(number) ? PlainDecimal.Integer(number) : NoNumber;

        static long Signed(int low, int high, bool negative)
        {
            long size = (long)(uint)low | (long)high << 32;
            return unchecked(negative ? -size : size);
        }
    }
}
