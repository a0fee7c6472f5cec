using System;
using System.Collections;
using System.Globalization;
using System.Linq;
using System.Text;

namespace Rowpath
{
    /// <summary>What a driver delivered, whatever its kind, in the form that Encoder and Touch take for its column's
    /// type (docs/codec.md): of a number its plain decimal notation, of dates and times a Moment or an infinite double,
    /// of bits a text of 0 and 1, of a UUID its bytes. Never an exception: what has no such form is Foreign.</summary>
    static class NearestForm
    {
        static readonly string[] True = { "t", "true", "1" }, False = { "f", "false", "0" };

        internal static object Of(Column column, object value)
        {
            if (value == null || value is DBNull) return null;
            try
            {
                return Made(column, value) ?? new Foreign(column, value);
            }
            catch (Exception misfit) when (misfit is OverflowException || misfit is FormatException
                                           || misfit is InvalidCastException)
            {
                return new Foreign(column, value);
            }
        }

        static object Made(Column column, object value)
        {
            string plain;
            switch (column.Type)
            {
                case LogicalType.Integer:
                    plain = PlainDecimal.Of(value);
                    return plain == null || !PlainDecimal.Finite(plain) ? null : plain;
                case LogicalType.Decimal: return PlainDecimal.Of(value);
                case LogicalType.Float32: return Floating(value, true);
                case LogicalType.Float64: return Floating(value, false);
                case LogicalType.Boolean: return Truth(value);
                case LogicalType.Char:
                case LogicalType.Varchar:
                case LogicalType.Text:
                case LogicalType.Json: return value as string ?? value as byte[] ?? (object)Text(value);
                case LogicalType.Binary: return value as byte[] ?? Bytes(value as string);
                case LogicalType.Bits: return Bits(value, column.Length);
                case LogicalType.Date:
                case LogicalType.Timestamp:
                case LogicalType.TimestampTz: return Infinite(value) ?? Temporal(value, moment => moment.HasDate);
                case LogicalType.Time:
                case LogicalType.TimeTz: return Temporal(value, moment => moment.HasTime);
                case LogicalType.Interval: return Infinite(value) ?? Span(value);
                case LogicalType.Uuid: return Uuid(value);
                case LogicalType.Array: return value as Elements ?? Elements(value as Array);
                case LogicalType.Struct:
                case LogicalType.Map:
                case LogicalType.Rows: return value as object[];
                default: return value;
            }
        }

        static Elements Elements(Array value) =>
            value == null || value is byte[] ? null : new Elements(1, value);

        static object Floating(object value, bool single)
        {
            double wide;
            if (value is double) wide = (double)value;
            else if (value is float) wide = (float)value;
            else
            {
                string plain = PlainDecimal.Of(value);
                if (plain == null) return null;
                if (plain == "nan") wide = double.NaN;
                else if (!PlainDecimal.Finite(plain))
                    wide = plain[0] == '-' ? double.NegativeInfinity : double.PositiveInfinity;
                // The text itself: a detour by way of another type would round twice.
                else if (single) wide = float.Parse(plain, CultureInfo.InvariantCulture);
                else wide = double.Parse(plain, CultureInfo.InvariantCulture);
            }
            return single ? (float)wide : wide;
        }

        static object Truth(object value)
        {
            if (value is bool) return value;
            string text = (value as string)?.ToLowerInvariant() ?? PlainDecimal.Of(value);
            if (True.Contains(text)) return true;
            return False.Contains(text) ? (object)false : null;
        }

        static string Text(object value)
        {
            if (value is bool) return (bool)value ? "true" : "false";
            return PlainDecimal.Of(value) ?? (value is Guid || value is TimeSpan ? value.ToString() : null);
        }

        static byte[] Bytes(string text) => text == null ? null : Utf8.Bytes(text);

        /// <summary>The low bits, so many as the column has; all where it does not say.</summary>
        static string Bits(object value, int length)
        {
            var text = value as string;
            if (text != null) return text.All(bit => bit == '0' || bit == '1') ? text : null;
            var bits = new StringBuilder();
            if (value is bool) bits.Append((bool)value ? '1' : '0');
            else if (value is byte[])
                foreach (byte each in (byte[])value) bits.Append(Convert.ToString(each, 2).PadLeft(8, '0'));
            else if (PlainDecimal.Integral(value))
                bits.Append(value is ulong
                    ? Convert.ToString(unchecked((long)(ulong)value), 2)
                    : Convert.ToString(Convert.ToInt64(value), 2));
            else return null;
            string all = bits.ToString();
            if (length == 0) return all;
            all = all.PadLeft(length, '0');
            return all.Substring(all.Length - length);
        }

        static object Infinite(object value)
        {
            if (value is double && double.IsInfinity((double)value)) return value;
            switch (value as string)
            {
                case "inf":
                case "infinity": return double.PositiveInfinity;
                case "-inf":
                case "-infinity": return double.NegativeInfinity;
                default: return null;
            }
        }

        static object Temporal(object value, Func<Moment, bool> complete)
        {
            Moment moment;
            if (value is Moment) moment = (Moment)value;
            else if (value is DateTime) moment = Moment.Of((DateTime)value);
            else if (value is TimeSpan) moment = Moment.Of((TimeSpan)value);
            else if (!(value is string) || !Moment.TryParse((string)value, out moment)) return null;
            return complete(moment) && Math.Abs(moment.Days ?? 0) < int.MaxValue ? (object)moment : null;
        }

        static object Span(object value)
        {
            if (value is TimeSpan) return new Interval(0, 0, checked(((TimeSpan)value).Ticks * 100));
            return value as Interval;
        }

        static byte[] Uuid(object value)
        {
            Guid uuid;
            var bytes = value as byte[];
            if (bytes != null) return bytes.Length == 16 ? bytes : null;
            if (value is Guid) uuid = (Guid)value;
            else if (!(value is string) || !Guid.TryParse((string)value, out uuid)) return null;
            byte[] mixed = uuid.ToByteArray(); // its first three fields are little endian
            return new[] { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 }.Select(at => mixed[at]).ToArray();
        }
    }
}
