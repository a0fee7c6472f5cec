using System;
using System.Globalization;
using System.IO;
using System.Text;

namespace Rowpath
{
    /// <summary>Rows of a parameter file (PROTOCOL.md) as natural values.</summary>
    sealed class Decoder
    {
        const long Magic = 0x0A3153574F525052; // "RPROWS1\n", little endian

        readonly byte[] data;
        int at;

        internal Decoder(byte[] data)
        {
            this.data = data;
        }

        /// <summary>The rows <c>[first, first + count)</c> of the file, each an array in column order.</summary>
        internal static object[][] Read(string path, Column[] columns, long first, int count)
        {
            using (var file = new FileStream(path, FileMode.Open, FileAccess.Read))
            {
                var head = new Decoder(Bytes(file, 0, 16));
                if (head.Int64() != Magic) throw new Failure("internal", "", path + ": no parameter file");
                long total = head.Int64();
                if (first < 0 || count < 0 || first + count > total)
                    throw new Failure("internal", "",
                        path + ": rows " + first + " to " + (first + count) + " of " + total);
                var offsets = new Decoder(Bytes(file, 16 + 8 * first, 8 * (count + 1L)));
                long start = offsets.Int64();
                long end = BitConverter.ToInt64(offsets.data, 8 * count);
                var rows = new Decoder(Bytes(file, start, end - start));
                var decoded = new object[count][];
                for (int row = 0; row < count; row++)
                {
                    decoded[row] = Array.ConvertAll(columns, rows.Value);
                    if (rows.at != offsets.Int64() - start)
                        throw new Failure("internal", "",
                            path + ": row " + (first + row) + " does not fit its columns");
                }
                return decoded;
            }
        }

        /// <summary>The next value.</summary>
        internal object Value(Column column)
        {
            switch ((char)data[at++])
            {
                case '\0': return null;
                case 'N': return Number(Text(), column);
                case 'F': return Floating(column);
                case 'L': return data[at++] != 0;
                case 'S': return Text();
                case 'B': return Bytes();
                case 'd': return Encoder.Epoch.AddDays(Int32());
                case 't': return new TimeSpan(Int64() / 100);
                case 'T': return Moment(DateTimeKind.Unspecified);
                case 'Z': return Moment(DateTimeKind.Utc);
                case 'I': return new Interval(Int32(), Int32(), Int64());
                case 'U': return Uuid();
                case 'A': return Elements(column);
                case 'O': return new object(); // its bytes hold no more than that it is there
                case 'X':
                    throw new Failure("unsupported", "", "column " + column.Name + ": a DateTime has no infinity");
                default:
                    throw new Failure("internal", "", "column " + column.Name + ": unknown tag " + data[at - 1]);
            }
        }

        /// <summary>In the column's natural type; the digits themselves where it has no room for them.</summary>
        static object Number(string digits, Column column)
        {
            try
            {
                if (column.Wide) return WideDecimal.Of(digits);
                if (column.Type == LogicalType.Decimal || column.WideInteger)
                    return decimal.Parse(digits, CultureInfo.InvariantCulture);
                if (column.Bits > 32) return long.Parse(digits, CultureInfo.InvariantCulture);
                if (column.Bits > 16) return int.Parse(digits, CultureInfo.InvariantCulture);
                return short.Parse(digits, CultureInfo.InvariantCulture);
            }
            catch (Exception beyond) when (beyond is FormatException || beyond is OverflowException)
            {
                return digits;
            }
        }

        object Floating(Column column)
        {
            double value = BitConverter.Int64BitsToDouble(Int64());
            if (column.Type == LogicalType.Float32) return (float)value;
            return value;
        }

        object Moment(DateTimeKind kind)
        {
            DateTime second = Encoder.Epoch.AddTicks(Int64() * 10000000);
            return DateTime.SpecifyKind(second.AddTicks(Int32() / 100), kind);
        }

        object Uuid()
        {
            var text = new StringBuilder();
            for (int place = 0; place < 16; place++)
                text.Append(data[at++].ToString("x2", CultureInfo.InvariantCulture));
            return new Guid(text.ToString());
        }

        object Elements(Column column)
        {
            var elements = new object[Int32()];
            for (int place = 0; place < elements.Length; place++) elements[place] = Value(column);
            return elements;
        }

        string Text()
        {
            int size = Int32();
            at += size;
            return Encoding.UTF8.GetString(data, at - size, size);
        }

        byte[] Bytes()
        {
            var value = new byte[Int32()];
            Array.Copy(data, at, value, 0, value.Length);
            at += value.Length;
            return value;
        }

        int Int32()
        {
            at += 4;
            return BitConverter.ToInt32(data, at - 4);
        }

        long Int64()
        {
            at += 8;
            return BitConverter.ToInt64(data, at - 8);
        }

        static byte[] Bytes(FileStream file, long position, long size)
        {
            var bytes = new byte[size];
            file.Position = position;
            for (int done = 0; done < bytes.Length;)
            {
                int read = file.Read(bytes, done, bytes.Length - done);
                if (read == 0) throw new Failure("internal", "", file.Name + ": it ends too early");
                done += read;
            }
            return bytes;
        }
    }
}
