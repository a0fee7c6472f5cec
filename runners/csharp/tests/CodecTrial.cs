using System;
using System.Globalization;
using System.Linq;
using System.Reflection;

namespace Rowpath
{
    /// <summary>Answers, line by line, for tests/runners/protocol/test_codec.py: <c>hash HEX</c> with the XXH64 of the
    /// bytes; <c>value TYPE PRECISION BITS NULLABLE HEX</c> with the bytes, digest, the encoder's touch and the loop's
    /// touch of the value decoded from the codec's bytes; <c>date TEXT</c>, <c>time TEXT</c>, <c>timestamp TEXT</c>
    /// with what Iso makes of the text; <c>json TEXT</c> with the text read and written again.</summary>
    static class CodecTrial
    {
        static void Main()
        {
            for (string line = Console.ReadLine(); line != null; line = Console.ReadLine())
            {
                int blank = line.IndexOf(' ');
                Console.WriteLine(Answered(line.Substring(0, blank), line.Substring(blank + 1)));
            }
        }

        static string Answered(string kind, string rest)
        {
            try
            {
                return Answer(kind, rest);
            }
            catch (TargetInvocationException misfit)
            {
                return "error " + misfit.InnerException.Message;
            }
            catch (Exception misfit)
            {
                return "error " + misfit.Message;
            }
        }

        static string Answer(string kind, string rest)
        {
            switch (kind)
            {
                case "hash":
                    byte[] bytes = Bytes(rest);
                    return SampleReply.Hex((long)XxHash64.Hash(bytes, bytes.Length));
                case "value": return Value(rest.Split(' '));
                case "date": return Iso.Date(rest).ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);
                case "time": return Iso.Time(rest).ToString();
                case "timestamp": return Iso.Timestamp(rest).ToString("o", CultureInfo.InvariantCulture);
                case "json": return Json.Format(Json.Parse(rest));
                default: throw new ArgumentException(kind);
            }
        }

        static string Value(string[] words)
        {
            LogicalType type = Column.Named(words[0]);
            var column = new Column("value", type, int.Parse(words[1]), int.Parse(words[2]), words[3] == "true");
            object value = new Decoder(Bytes(words[4])).Value(column);
            var encoder = new Encoder(new[] { column }, 1, null);
            long encoded = 1, touched = 1;
            if (value == null)
            {
                encoder.Null();
            }
            else
            {
                Type given = value.GetType();
                encoded = (long)NaturalTypes.Taker(typeof(Encoder), column, given).Invoke(encoder, new[] { value });
                touched = (long)NaturalTypes.Taker(typeof(Touch), column, given).Invoke(null, new[] { value });
            }
            string row = BitConverter.ToString(encoder.Row()).Replace("-", "").ToLowerInvariant();
            encoder.EndRow();
            return string.Join(" ", row, encoder.Digest(), SampleReply.Hex(encoded), SampleReply.Hex(touched));
        }

        static byte[] Bytes(string hexadecimal)
        {
            return Enumerable.Range(0, hexadecimal.Length / 2)
                .Select(at => byte.Parse(hexadecimal.Substring(2 * at, 2), NumberStyles.AllowHexSpecifier)).ToArray();
        }
    }
}
