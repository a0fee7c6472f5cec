using System;
using System.Globalization;

namespace Rowpath
{
    /// <summary>Numbers in the codec's plain decimal notation: no exponent, no trailing zeros of the fraction, no
    /// negative zero; else <c>nan</c>, <c>inf</c>, <c>-inf</c>.</summary>
    static class PlainDecimal
    {
        const int MostExponent = 200000; // no engine has numbers of so many digits

        /// <summary>Of a number of any kind or a text that spells one; null of anything else.</summary>
        internal static string Of(object value)
        {
            if (value is bool) return (bool)value ? "1" : "0";
            if (value is double) return OfText(Shortest((double)value));
            if (value is float) return OfText(Shortest((float)value));
            if (value is decimal) return Stripped(((decimal)value).ToString(CultureInfo.InvariantCulture));
            if (value is WideDecimal) return OfText(value.ToString());
            if (Integral(value)) return ((IFormattable)value).ToString(null, CultureInfo.InvariantCulture);
            var text = value as string;
            return text == null ? null : OfText(text);
        }

        /// <summary>Whether it is one of C#'s integers.</summary>
        internal static bool Integral(object value) => value is long || value is int || value is short || value is byte
            || value is ulong || value is uint || value is ushort || value is sbyte;

        internal static bool Finite(string plain) => !plain.EndsWith("n", StringComparison.Ordinal)
            && !plain.EndsWith("f", StringComparison.Ordinal);

        /// <summary>The integral part modulo 2^64, negative ones as two's complement.</summary>
        internal static long Integer(string plain)
        {
            bool negative = plain[0] == '-';
            ulong size = 0;
            for (int at = negative ? 1 : 0; at < plain.Length && plain[at] != '.'; at++)
                size = unchecked(10 * size + (ulong)(plain[at] - '0'));
            return unchecked(negative ? -(long)size : (long)size);
        }

        /// <summary>The fewest digits that read back as the same number.</summary>
        internal static string Shortest(double value)
        {
            foreach (string format in new[] { "G15", "G16" })
            {
                string text = value.ToString(format, CultureInfo.InvariantCulture);
                double back;
                if (double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out back) && back == value)
                    return text;
            }
            return value.ToString("G17", CultureInfo.InvariantCulture);
        }

        static string Shortest(float value)
        {
            foreach (string format in new[] { "G6", "G7", "G8" })
            {
                string text = value.ToString(format, CultureInfo.InvariantCulture);
                float back;
                if (float.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out back) && back == value)
                    return text;
            }
            return value.ToString("G9", CultureInfo.InvariantCulture);
        }

        static string OfText(string text)
        {
            int at = 0;
            bool negative = text.StartsWith("-", StringComparison.Ordinal);
            if (negative || text.StartsWith("+", StringComparison.Ordinal)) at++;
            string word = text.Substring(at).ToLowerInvariant();
            if (word == "nan") return "nan";
            if (word == "inf" || word == "infinity") return negative ? "-inf" : "inf";
            string whole = Digits(text, ref at), fraction = "";
            if (at < text.Length && text[at] == '.')
            {
                at++;
                fraction = Digits(text, ref at);
            }
            if (whole.Length + fraction.Length == 0) return null;
            int exponent = 0;
            if (at < text.Length && (text[at] == 'e' || text[at] == 'E'))
            {
                if (!int.TryParse(text.Substring(at + 1), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture,
                        out exponent) || Math.Abs(exponent) > MostExponent) return null;
                at = text.Length;
            }
            if (at < text.Length) return null;
            if (exponent > 0)
            {
                fraction = fraction.PadRight(exponent, '0');
                whole += fraction.Substring(0, exponent);
                fraction = fraction.Substring(exponent);
            }
            else if (exponent < 0)
            {
                whole = whole.PadLeft(-exponent, '0');
                fraction = whole.Substring(whole.Length + exponent) + fraction;
                whole = whole.Substring(0, whole.Length + exponent);
            }
            whole = whole.TrimStart('0');
            return Stripped((negative ? "-" : "") + (whole == "" ? "0" : whole) + "." + fraction);
        }

        static string Digits(string text, ref int at)
        {
            int from = at;
            while (at < text.Length && text[at] >= '0' && text[at] <= '9') at++;
            return text.Substring(from, at - from);
        }

        static string Stripped(string plain)
        {
            if (plain.IndexOf('.') >= 0) plain = plain.TrimEnd('0').TrimEnd('.');
            return plain == "-0" ? "0" : plain;
        }
    }
}
