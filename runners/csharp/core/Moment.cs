using System;

namespace Rowpath
{
    /// <summary>A date, a time of it and its distance from UTC, each as written: what DateTime and TimeSpan have no
    /// room for too, such as 0000-00-00, 44 BC, 25:30:00.</summary>
    public struct Moment
    {
        internal const long SecondNs = 1000000000;
        const int CycleYears = 400, CycleDays = 146097;

        internal bool HasDate;
        internal bool HasTime;
        internal int Year; // 0 is 1 BC
        internal int Month;
        internal int Day;
        internal long TimeNs;
        internal int OffsetS;

        internal static Moment Of(DateTime value) =>
            new Moment
            {
                HasDate = true, HasTime = true, Year = value.Year, Month = value.Month, Day = value.Day,
                TimeNs = value.TimeOfDay.Ticks * 100
            };

        internal static Moment Of(TimeSpan value) => new Moment { HasTime = true, TimeNs = checked(value.Ticks * 100) };

        /// <summary>Of ISO 8601 with a blank or a T in the middle, and <c>BC</c> behind it; seconds, fraction and
        /// offset may be absent. False for any other text.</summary>
        internal static bool TryParse(string text, out Moment moment)
        {
            var reader = new MomentReader(text);
            return reader.Whole(out moment);
        }

        /// <summary>Days since 1970-01-01, proleptic Gregorian; null where no calendar has the day.</summary>
        internal long? Days
        {
            get
            {
                int inCycle = (Year % CycleYears + CycleYears) % CycleYears, year = 2000 + inCycle;
                if (Month < 1 || Month > 12 || Day < 1 || Day > DateTime.DaysInMonth(year, Month)) return null;
                long days = (new DateTime(year, Month, Day) - Encoder.Epoch).Days;
                return days + (Year - 2000L - inCycle) / CycleYears * CycleDays;
            }
        }

        /// <summary>The second of the minute, without the sign.</summary>
        internal long Second => Math.Abs(TimeNs / SecondNs % 60);
    }

    /// <summary>Reads a Moment of a text.</summary>
    sealed class MomentReader
    {
        readonly string text;
        int at;

        internal MomentReader(string text)
        {
            this.text = text;
        }

        internal bool Whole(out Moment moment)
        {
            moment = new Moment { Year = 1970, Month = 1, Day = 1 };
            if (!Date(ref moment)) return false;
            if (moment.HasDate && (Next(' ') || Next('T')) && text.Length > at && text[at] == 'B') at--;
            if (!Time(ref moment) || !Offset(ref moment)) return false;
            if (text.EndsWith(" BC", StringComparison.Ordinal) && at == text.Length - 3)
            {
                moment.Year = 1 - moment.Year;
                at = text.Length;
            }
            return at == text.Length && (moment.HasDate || moment.HasTime);
        }

        bool Date(ref Moment moment)
        {
            int from = at;
            bool negative = Next('-');
            long year;
            if (Digits(4, 9, out year) && Next('-'))
            {
                long month, day;
                if (!Digits(2, 2, out month) || !Next('-') || !Digits(2, 2, out day)) return false;
                moment.HasDate = true;
                moment.Year = (int)(negative ? -year : year);
                moment.Month = (int)month;
                moment.Day = (int)day;
                return true;
            }
            at = from;
            return true;
        }

        bool Time(ref Moment moment)
        {
            int from = at;
            bool negative = Next('-');
            long hour, minute, second = 0, fraction = 0;
            if (!Digits(2, 7, out hour) || !Next(':'))
            {
                at = from;
                return true;
            }
            if (!Digits(2, 2, out minute)) return false;
            if (Next(':'))
            {
                if (!Digits(2, 2, out second)) return false;
                if (Next('.'))
                {
                    int begun = at;
                    if (!Digits(1, 9, out fraction)) return false;
                    for (int digits = at - begun; digits < 9; digits++) fraction *= 10;
                }
            }
            long ns = ((hour * 60 + minute) * 60 + second) * Moment.SecondNs + fraction;
            moment.HasTime = true;
            moment.TimeNs = negative ? -ns : ns;
            return true;
        }

        bool Offset(ref Moment moment)
        {
            if (!moment.HasTime || Next('Z')) return true;
            bool negative = Next('-');
            if (!negative && !Next('+')) return true;
            long part, seconds = 0;
            for (int unit = 3600; unit >= 1; unit /= 60)
            {
                if (!Digits(2, 2, out part)) return false;
                seconds += part * unit;
                if (unit == 1 || !Next(':')) break;
            }
            moment.OffsetS = (int)(negative ? -seconds : seconds);
            return true;
        }

        bool Next(char character)
        {
            if (at >= text.Length || text[at] != character) return false;
            at++;
            return true;
        }

        bool Digits(int least, int most, out long value)
        {
            int from = at;
            for (value = 0; at < text.Length && at - from < most && text[at] >= '0' && text[at] <= '9'; at++)
                value = 10 * value + (text[at] - '0');
            return at - from >= least;
        }
    }
}
