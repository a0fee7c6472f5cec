using System;
using System.Data.Common;
using System.Globalization;

namespace Rowpath.Ado
{
    /// <summary>Natural values from what a reader hands over as something else: the conversion that a program must do
    /// itself. From its text, or from what its GetValue returns.</summary>
    public static class Values
    {
        public static string Text(DbDataReader rows, int at) => rows.GetString(at);

        public static WideDecimal WideDecimalOfText(DbDataReader rows, int at) => WideDecimal.Of(rows.GetString(at));

        public static long LongOfText(DbDataReader rows, int at) =>
            long.Parse(rows.GetString(at), CultureInfo.InvariantCulture);

        public static decimal DecimalOfText(DbDataReader rows, int at) =>
            decimal.Parse(rows.GetString(at), NumberStyles.Number, CultureInfo.InvariantCulture);

        public static DateTime DateOfText(DbDataReader rows, int at) => Iso.Date(rows.GetString(at));

        public static TimeSpan TimeOfText(DbDataReader rows, int at) => Iso.Time(rows.GetString(at));

        /// <summary>Of a session in UTC: <c>2000-11-07 01:02:03.5+00</c>.</summary>
        public static DateTime InstantOfText(DbDataReader rows, int at)
        {
            string text = rows.GetString(at);
            return Iso.Timestamp(text.EndsWith("+00", StringComparison.Ordinal)
                ? text.Substring(0, text.Length - 3)
                : text);
        }

        public static Moment TimeTzOfText(DbDataReader rows, int at)
        {
            Moment moment;
            if (!Rowpath.Moment.TryParse(rows.GetString(at), out moment)) throw new FormatException("no time");
            return moment;
        }

        public static DateTime TimestampOfText(DbDataReader rows, int at) => Iso.Timestamp(rows.GetString(at));

        public static long Integer(DbDataReader rows, int at) =>
            Convert.ToInt64(rows.GetValue(at), CultureInfo.InvariantCulture);

        public static decimal Decimal(DbDataReader rows, int at) =>
            Convert.ToDecimal(rows.GetValue(at), CultureInfo.InvariantCulture);

        public static float Float32(DbDataReader rows, int at) =>
            Convert.ToSingle(rows.GetValue(at), CultureInfo.InvariantCulture);

        public static double Float64(DbDataReader rows, int at) =>
            Convert.ToDouble(rows.GetValue(at), CultureInfo.InvariantCulture);

        public static bool Truth(DbDataReader rows, int at) =>
            Convert.ToBoolean(rows.GetValue(at), CultureInfo.InvariantCulture);

        public static byte[] Binary(DbDataReader rows, int at) => (byte[])rows.GetValue(at);

        public static DateTime Moment(DbDataReader rows, int at) =>
            Convert.ToDateTime(rows.GetValue(at), CultureInfo.InvariantCulture);

        public static TimeSpan Time(DbDataReader rows, int at) => (TimeSpan)rows.GetValue(at);

        public static object Anything(DbDataReader rows, int at) => rows.GetValue(at);
    }
}
