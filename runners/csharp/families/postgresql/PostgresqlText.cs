using System;
using System.Data.Common;
using System.Globalization;

namespace Rowpath.Postgresql
{
    /// <summary>What ODBC has no type for and hands over as PostgreSQL's own text.</summary>
    static class PostgresqlText
    {
        const long SecondNs = 1000000000;

        /// <summary><c>1 year 2 mons -3 days 01:02:03.5</c>.</summary>
        internal static Interval Interval(DbDataReader rows, int at)
        {
            string[] words = rows.GetString(at).Split(' ');
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

        /// <summary><c>{1,NULL,3}</c>.</summary>
        internal static object[] Integers(DbDataReader rows, int at)
        {
            string text = rows.GetString(at).Trim('{', '}');
            if (text == "") return new object[0];
            return Array.ConvertAll(text.Split(','),
                element => element == "NULL" ? null : (object)long.Parse(element, CultureInfo.InvariantCulture));
        }

        static long Clock(string text)
        {
            string[] parts = text.TrimStart('-', '+').Split(':');
            decimal seconds = decimal.Parse(parts[2], CultureInfo.InvariantCulture);
            long minutes = 60 * long.Parse(parts[0], CultureInfo.InvariantCulture)
                           + long.Parse(parts[1], CultureInfo.InvariantCulture);
            long ns = minutes * 60 * SecondNs + (long)(seconds * SecondNs);
            return text[0] == '-' ? -ns : ns;
        }
    }
}
