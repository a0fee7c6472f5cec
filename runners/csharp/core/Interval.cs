namespace Rowpath
{
    /// <summary>An interval in its three independent parts.</summary>
    public sealed class Interval
    {
        public readonly int Months;
        public readonly int Days;
        public readonly long Nanoseconds;

        public Interval(int months, int days, long nanoseconds)
        {
            Months = months;
            Days = days;
            Nanoseconds = nanoseconds;
        }
    }
}
