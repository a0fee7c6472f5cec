using System;
using System.Data.SqlTypes;
using System.Globalization;
using System.IO;
using System.Text;

namespace Rowpath
{
    /// <summary>The codec's bytes of rows and their digest (docs/codec.md). Each method takes the next column's value
    /// and returns its touch, so that one pass yields both. A value that does not fit is a Failure of kind
    /// verify.</summary>
    public sealed class Encoder
    {
        static readonly Encoding Utf8 = new UTF8Encoding(false, true);
        internal static readonly DateTime Epoch = new DateTime(1970, 1, 1);

        readonly Column[] columns;
        readonly long limit;
        readonly Stream kept;
        byte[] bytes = new byte[4096];
        int length;
        int at;
        long rows;
        ulong sum;

        /// <summary>A digest over at most <c>limit</c> rows of these columns; the bytes of each go to <c>kept</c>
        /// (unless null), their length before them.</summary>
        public Encoder(Column[] columns, long limit, Stream kept)
        {
            this.columns = columns;
            this.limit = limit;
            this.kept = kept;
        }

        /// <summary>The position of the next column.</summary>
        internal int At => at;

        /// <summary>Ends the row whose values were taken.</summary>
        public void EndRow()
        {
            if (rows < limit)
            {
                rows++;
                sum = unchecked(sum + XxHash64.Hash(bytes, length));
                if (kept != null) Keep();
            }
            length = 0;
            at = 0;
        }

        void Keep()
        {
            for (int shift = 0; shift < 32; shift += 8) kept.WriteByte((byte)(length >> shift));
            kept.Write(bytes, 0, length);
        }

        /// <summary><c>rows:hex16</c>.</summary>
        public string Digest() => rows + ":" + sum.ToString("x16", CultureInfo.InvariantCulture);

        /// <summary>The bytes of the row under way.</summary>
        internal byte[] Row()
        {
            var row = new byte[length];
            Array.Copy(bytes, row, length);
            return row;
        }

        public long Null()
        {
            if (!columns[at++].Nullable) throw Misfit("NULL where none is allowed");
            Put(0);
            return 1;
        }

        public long Integer(long value)
        {
            int bits = columns[at++].Bits;
            if (bits < 64 && value != value << 64 - bits >> 64 - bits)
                throw Misfit(value + " in an integer of " + bits + " bits");
            Number(value.ToString(CultureInfo.InvariantCulture));
            return value;
        }

        public long Decimal(decimal value)
        {
            at++;
            Number(Stripped(value.ToString(CultureInfo.InvariantCulture)));
            return Touch.Decimal(value);
        }

        public long WideDecimal(SqlDecimal value)
        {
            at++;
            Number(Stripped(value.ToString()));
            return Touch.WideDecimal(value);
        }

        public long Float32(float value) => Float64(value);

        public long Float64(double value)
        {
            at++;
            Put('F');
            if (double.IsNaN(value)) Put64(0x7ff8L << 48);
            else Put64(value == 0 ? 0 : BitConverter.DoubleToInt64Bits(value));
            return Touch.Float(value);
        }

        public long Truth(bool value)
        {
            at++;
            Put('L');
            Put(value ? 1 : 0);
            return Touch.Truth(value);
        }

        public long Character(string value)
        {
            Text(value.TrimEnd(' '));
            return Touch.Text(value);
        }

        public long Text(string value)
        {
            at++;
            try
            {
                Tagged('S', Utf8.GetBytes(value));
            }
            catch (EncoderFallbackException broken)
            {
                throw Misfit("text that is no valid Unicode: " + broken.Message);
            }
            return Touch.Text(value);
        }

        public long Binary(byte[] value)
        {
            at++;
            Tagged('B', value);
            return Touch.Binary(value);
        }

        public long Date(DateTime value)
        {
            at++;
            if (value.TimeOfDay != TimeSpan.Zero) throw Misfit("a date with a time of day");
            Put('d');
            Put32((int)(value - Epoch).TotalDays);
            return Touch.Date(value);
        }

        public long Time(TimeSpan value)
        {
            at++;
            Put('t');
            Put64(value.Ticks * 100);
            return Touch.Time(value);
        }

        public long Timestamp(DateTime value) => Moment('T', value);

        public long Instant(DateTime value) => Moment('Z', value);

        public long Interval(Interval value)
        {
            at++;
            Put('I');
            Put32(value.Months);
            Put32(value.Days);
            Put64(value.Nanoseconds);
            return Touch.Other(value);
        }

        public long Uuid(Guid value)
        {
            at++;
            Put('U');
            byte[] mixed = value.ToByteArray(); // its first three fields are little endian
            foreach (int from in new[] { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 }) Put(mixed[from]);
            return Touch.Other(value);
        }

        public long Elements(object[] value)
        {
            at++;
            Put('A');
            Put32(value.Length);
            foreach (object element in value)
            {
                if (element == null) Put(0);
                else Number(Convert.ToString(element, CultureInfo.InvariantCulture));
            }
            return Touch.Other(value);
        }

        /// <summary>A value in a form of the driver's own: only that it is there is in the bytes.</summary>
        public long Opaque(object value)
        {
            at++;
            Put('O');
            return Touch.Other(value);
        }

        /// <summary>Plain decimal notation without trailing zeros of the fraction.</summary>
        static string Stripped(string plain)
        {
            if (plain.IndexOf('.') >= 0) plain = plain.TrimEnd('0').TrimEnd('.');
            return plain == "-0" ? "0" : plain;
        }

        internal Failure Misfit(string what) =>
            new Failure("verify", "", "column " + columns[Math.Max(at - 1, 0)].Name + ": " + what);

        long Moment(char tag, DateTime value)
        {
            at++;
            long ticks = value.Ticks - Epoch.Ticks;
            long seconds = (ticks - (ticks % 10000000 + 10000000) % 10000000) / 10000000;
            Put(tag);
            Put64(seconds);
            Put32((int)(ticks - seconds * 10000000) * 100);
            return Touch.Moment(value);
        }

        void Number(string digits)
        {
            Tagged('N', Encoding.ASCII.GetBytes(digits));
        }

        void Tagged(char tag, byte[] value)
        {
            Put(tag);
            Put32(value.Length);
            Room(value.Length);
            Array.Copy(value, 0, bytes, length, value.Length);
            length += value.Length;
        }

        void Put(int value)
        {
            Room(1);
            bytes[length++] = (byte)value;
        }

        void Put32(int value)
        {
            for (int shift = 0; shift < 32; shift += 8) Put(value >> shift & 0xff);
        }

        void Put64(long value)
        {
            Put32((int)value);
            Put32((int)(value >> 32));
        }

        void Room(int more)
        {
            if (length + more > bytes.Length) Array.Resize(ref bytes, Math.Max(length + more, 2 * bytes.Length));
        }
    }
}
