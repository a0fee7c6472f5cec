using System;

namespace Rowpath
{
    /// <summary>Dates and times from ISO 8601 text, a blank or a T between them; years of four digits; FormatException
    /// for anything else. By hand because DateTime.ParseExact takes ten times as long, which would be measured as the
    /// driver's.</summary>
    public static class Iso
    {
        /// <summary><c>2000-11-07</c>.</summary>
        public static DateTime Date(string text)
        {
            if (text.Length != 10) throw Misfit(text);
            return DateAt(text);
        }

        /// <summary><c>01:02:03</c>, with up to seven digits of a fraction.</summary>
        public static TimeSpan Time(string text) => TimeAt(text, 0);

        /// <summary><c>2000-11-07 01:02:03.456789</c>.</summary>
        public static DateTime Timestamp(string text)
        {
            if (text.Length < 19 || (text[10] != ' ' && text[10] != 'T')) throw Misfit(text);
            return DateAt(text) + TimeAt(text, 11);
        }

        static DateTime DateAt(string text)
        {
            if (text[4] != '-' || text[7] != '-') throw Misfit(text);
            return new DateTime(Digits(text, 0, 4), Digits(text, 5, 7), Digits(text, 8, 10));
        }

        static TimeSpan TimeAt(string text, int from)
        {
            int size = text.Length - from;
            if (size < 8 || text[from + 2] != ':' || text[from + 5] != ':') throw Misfit(text);
            int hours = Digits(text, from, from + 2);
            int minutes = Digits(text, from + 3, from + 5), seconds = Digits(text, from + 6, from + 8);
            if (hours > 23 || minutes > 59 || seconds > 59) throw Misfit(text);
            long ticks = 0;
            if (size > 8)
            {
                if (text[from + 8] != '.' || size < 10 || size > 16) throw Misfit(text);
                ticks = Digits(text, from + 9, text.Length);
                for (int digits = size; digits < 16; digits++) ticks *= 10;
            }
            return new TimeSpan(new TimeSpan(hours, minutes, seconds).Ticks + ticks);
        }

        static int Digits(string text, int from, int end)
        {
            int value = 0;
            for (int at = from; at < end; at++)
            {
                int digit = text[at] - '0';
                if (digit < 0 || digit > 9) throw Misfit(text);
                value = 10 * value + digit;
            }
            return value;
        }

        static FormatException Misfit(string text) =>
            new FormatException("no date or time in ISO 8601: '" + text + "'");
    }
}
