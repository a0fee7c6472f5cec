using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;

namespace Rowpath
{
    /// <summary>The codec's bytes of rows, and the digests of them and of their columns (docs/codec.md). It takes every
    /// value.</summary>
    sealed class Encoder
    {
        internal static readonly DateTime Epoch = new DateTime(1970, 1, 1);

        readonly Column[] columns;
        readonly long limit;
        readonly Stream kept;
        ColumnDigest[] digests, markedDigests;
        RowDigest all = new RowDigest(), markedAll;
        long markedLength;
        byte[] bytes = new byte[4096];
        int length;
        ColumnDigest digest; // of the column under way

        /// <summary>A digest over at most <c>limit</c> rows of these columns; the bytes of each go to <c>kept</c>
        /// (unless null), their length before them.</summary>
        internal Encoder(Column[] columns, long limit, Stream kept)
        {
            this.columns = columns;
            digests = columns.Select(column => new ColumnDigest()).ToArray();
            this.limit = limit;
            this.kept = kept;
        }

        /// <summary>Takes a row of values as NearestForm has them.</summary>
        internal void Row(object[] values)
        {
            if (all.Rows == limit) return;
            length = 0;
            for (int at = 0; at < columns.Length; at++)
            {
                int from = length;
                digest = digests[at];
                Put(columns[at], values[at]);
                digest.Ended(XxHash64.Hash(bytes, from, length));
            }
            all.Add(XxHash64.Hash(bytes, 0, length));
            if (kept != null) Keep();
        }

        /// <summary>What Back goes back to.</summary>
        internal void Mark()
        {
            markedAll = all.Copy();
            markedDigests = Array.ConvertAll(digests, each => (ColumnDigest)each.Copy());
            markedLength = kept == null ? 0 : kept.Position;
        }

        /// <summary>Forgets the rows since Mark.</summary>
        internal void Back()
        {
            all = markedAll;
            digests = markedDigests;
            if (kept != null) kept.SetLength(markedLength);
        }

        void Keep()
        {
            for (int shift = 0; shift < 32; shift += 8) kept.WriteByte((byte)(length >> shift));
            kept.Write(bytes, 0, length);
        }

        /// <summary>The digests as the reply to <c>verify</c> has them.</summary>
        internal Dictionary<string, object> Reply() =>
            new Dictionary<string, object>
            {
                { "digest", all.Rows + ":" + SampleReply.Hex(all.Sum) }, { "order", SampleReply.Hex(all.Order) },
                { "columns", digests.Select(each => each.Reply()).ToArray() }
            };

        /// <summary>The bytes of the last row.</summary>
        internal byte[] Bytes() => bytes.Take(length).ToArray();

        void Put(Column column, object value)
        {
            if (value == null)
            {
                Put('\0');
                return;
            }
            var foreign = value as Foreign;
            if (foreign != null)
            {
                digest.Met(foreign);
                Tagged('?', Utf8.Bytes(foreign.Text));
                return;
            }
            switch (column.Type)
            {
                case LogicalType.Integer:
                case LogicalType.Decimal: Tagged('N', Encoding.ASCII.GetBytes((string)value)); break;
                case LogicalType.Float32:
                case LogicalType.Float64: PutFloat((double)value); break;
                case LogicalType.Boolean:
                    Put('L');
                    Put((bool)value ? '\x1' : '\0');
                    break;
                case LogicalType.Char: Tagged('S', Unpadded(value)); break;
                case LogicalType.Varchar:
                case LogicalType.Text:
                case LogicalType.Json: Tagged('S', value as byte[] ?? Utf8.Bytes((string)value)); break;
                case LogicalType.Binary: Tagged('B', (byte[])value); break;
                case LogicalType.Bits: PutBits((string)value); break;
                case LogicalType.Date:
                case LogicalType.Time:
                case LogicalType.TimeTz:
                case LogicalType.Timestamp:
                case LogicalType.TimestampTz:
                    if (value is double) PutInfinity((double)value);
                    else PutMoment(column, (Moment)value);
                    break;
                case LogicalType.Interval:
                    if (value is double) PutInfinity((double)value);
                    else PutInterval(column, (Interval)value);
                    break;
                case LogicalType.Uuid:
                    Put('U');
                    Append((byte[])value);
                    break;
                case LogicalType.Array: PutArray(column, (Elements)value); break;
                case LogicalType.Struct:
                    Put('K');
                    PutMembers(column.Fields, (object[])value);
                    break;
                case LogicalType.Map: PutMap(column, (object[])value); break;
                case LogicalType.Rows: PutRows(column, (object[])value); break;
                case LogicalType.Any: PutAny(value); break;
                default: Put('O'); break;
            }
        }

        void PutFloat(double value)
        {
            Put('F');
            if (double.IsNaN(value)) Put64(0x7ff8L << 48);
            else Put64(value == 0 ? 0 : BitConverter.DoubleToInt64Bits(value));
        }

        static byte[] Unpadded(object value)
        {
            var text = value as string;
            if (text != null) return Utf8.Bytes(text.TrimEnd(' '));
            var padded = (byte[])value;
            int end = padded.Length;
            while (end > 0 && padded[end - 1] == ' ') end--;
            return padded.Take(end).ToArray();
        }

        void PutBits(string bits)
        {
            Put('b');
            Put32(bits.Length);
            for (int at = 0; at < bits.Length; at += 8)
                Put((char)Convert.ToByte(bits.Substring(at, Math.Min(8, bits.Length - at)).PadRight(8, '0'), 2));
        }

        void PutInfinity(double value)
        {
            Tagged('X', Encoding.ASCII.GetBytes(value > 0 ? "inf" : "-inf"));
        }

        void PutMoment(Column column, Moment moment)
        {
            bool clock = column.Type == LogicalType.Time || column.Type == LogicalType.TimeTz;
            if (column.Type != LogicalType.Date) digest.Met(moment.TimeNs);
            long? days = moment.Days;
            if (!clock && days == null)
            {
                Put('Y');
                Put32(moment.Year);
                Put((char)moment.Month);
                Put((char)moment.Day);
                Put64(column.Type == LogicalType.Date ? 0 : Cut(column, moment.TimeNs));
            }
            else if (column.Type == LogicalType.Date)
            {
                Put('d');
                Put32((int)days.Value);
            }
            else if (clock)
            {
                Put(column.Type == LogicalType.Time ? 't' : 'y');
                Put64(Cut(column, moment.TimeNs));
                if (column.Type == LogicalType.TimeTz) Put32(moment.OffsetS);
            }
            else
            {
                long ofSecond = (moment.TimeNs % Moment.SecondNs + Moment.SecondNs) % Moment.SecondNs;
                long second = days.Value * 86400 - moment.OffsetS + (moment.TimeNs - ofSecond) / Moment.SecondNs;
                long cut = Cut(column, ofSecond); // rounded up it may be a whole second
                Put(column.Type == LogicalType.Timestamp ? 'T' : 'Z');
                Put64(second + cut / Moment.SecondNs);
                Put32((int)(cut % Moment.SecondNs));
            }
        }

        void PutInterval(Column column, Interval value)
        {
            digest.Met(value.Nanoseconds);
            Put('I');
            Put32(value.Months);
            Put32(value.Days);
            Put64(Cut(column, value.Nanoseconds));
        }

        static long Cut(Column column, long ns)
        {
            long unit = column.UnitNs;
            if (unit == 1) return ns;
            if (column.Rounded) ns += unit / 2;
            return ns - (ns % unit + unit) % unit;
        }

        void PutArray(Column column, Elements value)
        {
            if (value.Lower != 1)
            {
                digest.Bounds = true;
                if (column.Bounds)
                {
                    Put('a');
                    Put32(value.Lower);
                }
            }
            Column element = column.Element;
            Put('A');
            Put32(value.Values.Count);
            foreach (object each in value.Values)
            {
                // A further dimension is no other type: an element that is itself an array.
                bool dimension = !element.Nested && (each is Elements || each is object[]);
                PutNearest(dimension ? column : element, each);
            }
        }

        void PutMembers(Column[] fields, object[] values)
        {
            Put32(values.Length);
            PutAll(fields, values);
        }

        void PutAll(Column[] fields, object[] values)
        {
            for (int at = 0; at < values.Length; at++) PutNearest(fields[at], values[at]);
        }

        void PutMap(Column column, object[] entries)
        {
            Put('M');
            Put32(entries.Length);
            int begin = length;
            var encoded = new List<byte[]>();
            foreach (object entry in entries)
            {
                PutAll(column.Fields, (object[])entry);
                encoded.Add(bytes.Skip(begin).Take(length - begin).ToArray());
                length = begin;
            }
            encoded.Sort(Compared);
            encoded.ForEach(Append);
        }

        static int Compared(byte[] one, byte[] other)
        {
            for (int at = 0; at < Math.Min(one.Length, other.Length); at++)
                if (one[at] != other[at]) return one[at] - other[at];
            return one.Length - other.Length;
        }

        void PutRows(Column column, object[] rows)
        {
            Put('R');
            Put32(rows.Length);
            foreach (object row in rows) PutAll(column.Fields, (object[])row);
        }

        /// <summary>By the value's own kind; a float without a fraction is a number.</summary>
        void PutAny(object value)
        {
            if (value is float) value = (double)(float)value;
            if (value is double)
            {
                double number = (double)value;
                bool whole = Math.Abs(number) < 1L << 53 && Math.Floor(number) == number;
                value = whole ? (long)number : value;
            }
            PutNearest(new Column("", Own(value)), value);
        }

        static LogicalType Own(object value)
        {
            if (value is double) return LogicalType.Float64;
            if (value is bool) return LogicalType.Boolean;
            if (value is byte[]) return LogicalType.Binary;
            if (value is DateTime) return LogicalType.Timestamp;
            if (value is TimeSpan) return LogicalType.Time;
            if (value is Guid) return LogicalType.Uuid;
            return value is string ? LogicalType.Text : LogicalType.Decimal;
        }

        void PutNearest(Column column, object value) => Put(column, NearestForm.Of(column, value));

        void Tagged(char tag, byte[] value)
        {
            Put(tag);
            Put32(value.Length);
            Append(value);
        }

        void Append(byte[] value)
        {
            Room(value.Length);
            Array.Copy(value, 0, bytes, length, value.Length);
            length += value.Length;
        }

        void Put(char value)
        {
            Room(1);
            bytes[length++] = (byte)value;
        }

        void Put32(int value)
        {
            for (int shift = 0; shift < 32; shift += 8) Put((char)(value >> shift & 0xff));
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
