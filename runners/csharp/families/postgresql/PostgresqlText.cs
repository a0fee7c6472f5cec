using System;
using System.Collections.Generic;
using System.Data.Common;
using System.Globalization;
using System.Text;

namespace Rowpath.Postgresql
{
    /// <summary>What ODBC has no type for and hands over as PostgreSQL's own text.</summary>
    static class PostgresqlText
    {
        /// <summary><c>1 year 2 mons -3 days 01:02:03.5</c>.</summary>
        internal static Interval Interval(DbDataReader rows, int at) => Span(rows.GetString(at));

        internal static Elements Integers(DbDataReader rows, int at) => Array(rows, at, Integer);

        internal static Elements Floats(DbDataReader rows, int at) => Array(rows, at, Float);

        internal static Elements Binaries(DbDataReader rows, int at) => Array(rows, at, Binary);

        internal static Elements Intervals(DbDataReader rows, int at) => Array(rows, at, SpanOrText);

        /// <summary>Elements whose text is taken as it is.</summary>
        internal static Elements Texts(DbDataReader rows, int at) => Array(rows, at, text => text);

        static Elements Array(DbDataReader rows, int at, Func<string, object> element) =>
            new ArrayReader(rows.GetString(at), element).Whole();

        static object Integer(string text) => long.Parse(text, CultureInfo.InvariantCulture);

        static object Float(string text) => double.Parse(text, CultureInfo.InvariantCulture);

        /// <summary><c>\x00ff</c>.</summary>
        static object Binary(string text)
        {
            var bytes = new byte[text.Length / 2 - 1];
            for (int place = 0; place < bytes.Length; place++)
                bytes[place] = byte.Parse(text.Substring(2 * place + 2, 2), NumberStyles.AllowHexSpecifier);
            return bytes;
        }

        /// <summary>The text itself where it is infinite or beyond what an Interval holds.</summary>
        static object SpanOrText(string text)
        {
            try
            {
                return Span(text);
            }
            catch (Exception beyond) when (beyond is FormatException || beyond is OverflowException)
            {
                return text;
            }
        }

        static Interval Span(string text)
        {
            string[] words = text.Split(' ');
            int months = 0, days = 0, word = 0;
            for (; word + 1 < words.Length; word += 2)
            {
                int number = int.Parse(words[word], CultureInfo.InvariantCulture);
                if (words[word + 1].StartsWith("year", StringComparison.Ordinal)) months += 12 * number;
                else if (words[word + 1].StartsWith("mon", StringComparison.Ordinal)) months += number;
                else days += number;
            }
            return new Interval(months, days, word < words.Length ? Clock(words[word]) : 0);
        }

        static long Clock(string text)
        {
            string[] parts = text.TrimStart('-', '+').Split(':');
            if (parts.Length != 3) throw new FormatException("no time: '" + text + "'");
            decimal seconds = decimal.Parse(parts[2], CultureInfo.InvariantCulture);
            long minutes = 60 * long.Parse(parts[0], CultureInfo.InvariantCulture)
                           + long.Parse(parts[1], CultureInfo.InvariantCulture);
            long ns = checked(minutes * 60 * Moment.SecondNs + (long)(seconds * Moment.SecondNs));
            return text[0] == '-' ? -ns : ns;
        }
    }

    /// <summary>Reads <c>{1,NULL,3}</c>, with quoted elements, further dimensions and lower bounds
    /// (<c>[0:1][2:2]={{1},{2}}</c>).</summary>
    sealed class ArrayReader
    {
        readonly string text;
        readonly Func<string, object> element;
        readonly List<int> lower = new List<int>(); // of each dimension; empty: 1
        int at;

        internal ArrayReader(string text, Func<string, object> element)
        {
            this.text = text;
            this.element = element;
        }

        internal Elements Whole()
        {
            for (int end; text[at] == '['; at = end + 1)
            {
                end = text.IndexOf(']', at);
                string[] bounds = text.Substring(at + 1, end - at - 1).Split(':');
                lower.Add(int.Parse(bounds[0], CultureInfo.InvariantCulture));
            }
            if (text[at] == '=') at++;
            return Dimension(0);
        }

        Elements Dimension(int depth)
        {
            var values = new List<object>();
            at++; // {
            while (text[at] != '}')
            {
                if (text[at] == ',') at++;
                values.Add(text[at] == '{' ? Dimension(depth + 1) : text[at] == '"' ? Quoted() : Bare());
            }
            at++;
            return new Elements(depth < lower.Count ? lower[depth] : 1, values);
        }

        object Bare()
        {
            int from = at;
            while (text[at] != ',' && text[at] != '}') at++;
            string word = text.Substring(from, at - from);
            return word == "NULL" ? null : element(word);
        }

        object Quoted()
        {
            var word = new StringBuilder();
            for (at++; text[at] != '"'; at++)
            {
                if (text[at] == '\\') at++;
                word.Append(text[at]);
            }
            at++;
            return element(word.ToString());
        }
    }
}
