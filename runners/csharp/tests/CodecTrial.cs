using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Reflection;

namespace Rowpath
{
    /// <summary>Answers, line by line, for tests/runners/csharp/test_codec.py: <c>hash HEX</c> with the XXH64 of the
    /// bytes; <c>value JSON</c> with the bytes, digest and touch of a <c>value</c> in a <c>column</c>;
    /// <c>parameter JSON</c> with the same of the value decoded from <c>bytes</c>, and the loop's touch;
    /// <c>result JSON</c> with what <c>verify</c> replies of <c>rows</c> with <c>columns</c>; <c>date TEXT</c>,
    /// <c>time TEXT</c>, <c>timestamp TEXT</c> with what Iso makes of the text; <c>json TEXT</c> with the text read and
    /// written again.</summary>
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
                    return SampleReply.Hex((long)XxHash64.Hash(bytes, 0, bytes.Length));
                case "value": return Value(Json.Parse(rest));
                case "parameter": return Parameter(Json.Parse(rest));
                case "result": return Result(Json.Parse(rest));
                case "date": return Iso.Date(rest).ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);
                case "time": return Iso.Time(rest).ToString();
                case "timestamp": return Iso.Timestamp(rest).ToString("o", CultureInfo.InvariantCulture);
                case "json": return Json.Format(Json.Parse(rest));
                default: throw new ArgumentException(kind);
            }
        }

        static string Value(Dictionary<string, object> asked)
        {
            Column column = Columns(asked["column"])[0];
            return Encoded(column, Natural(column, asked["value"]));
        }

        static string Parameter(Dictionary<string, object> asked)
        {
            Column column = Columns(asked["column"])[0];
            object value = new Decoder(Bytes(asked.Text("bytes"))).Value(column);
            if (value == null) return Encoded(column, null);
            Type given = value is object[] ? typeof(object) : value.GetType();
            // Digits that the natural type has no room for never reach the loop's touch.
            long touched = value is string && !(column.TypeName == "text" || column.TypeName == "varchar"
                                                || column.TypeName == "char" || column.TypeName == "json")
                ? Touch.Of(column, NearestForm.Of(column, value))
                : (long)NaturalTypes.Taker(column, given).Invoke(null, new[] { value });
            return Encoded(column, value) + " " + SampleReply.Hex(touched);
        }

        static string Encoded(Column column, object value)
        {
            var encoder = new Encoder(new[] { column }, 1, null);
            object nearest = NearestForm.Of(column, value);
            encoder.Row(new[] { nearest });
            string row = BitConverter.ToString(encoder.Bytes()).Replace("-", "").ToLowerInvariant();
            return string.Join(" ", row, encoder.Reply()["digest"], SampleReply.Hex(Touch.Of(column, nearest)));
        }

        static string Result(Dictionary<string, object> asked)
        {
            Column[] columns = Columns(asked["columns"]);
            var encoder = new Encoder(columns, 100, null);
            foreach (List<object> row in (List<object>)asked["rows"])
                encoder.Row(columns.Select((column, at) => NearestForm.Of(column, Natural(column, row[at]))).ToArray());
            return Json.Format(encoder.Reply());
        }

        static Column[] Columns(object declared) =>
            Column.List(declared as List<object> ?? new List<object> { declared });

        /// <summary>A vector's value as a driver could deliver it: mostly as text.</summary>
        static object Natural(Column column, object value)
        {
            var spelt = value as Dictionary<string, object>;
            if (spelt != null) return Spelt(column, spelt);
            var list = value as List<object>;
            if (list != null) return Nested(column, list);
            return value is string && column.Type == LogicalType.Binary ? Bytes((string)value) : value;
        }

        static object Spelt(Column column, Dictionary<string, object> value)
        {
            if (value.ContainsKey("hex")) return Bytes(value.Text("hex"));
            if (value.ContainsKey("integer")) return long.Parse(value.Text("integer"), CultureInfo.InvariantCulture);
            if (value.ContainsKey("float")) return double.Parse(value.Text("float"), CultureInfo.InvariantCulture);
            return new Elements((int)(long)value["lower"], Inner(column, (List<object>)value["elements"]));
        }

        static object Nested(Column column, List<object> value)
        {
            switch (column.Type)
            {
                case LogicalType.Interval:
                    return new Interval((int)(long)value[0], (int)(long)value[1], (long)value[2]);
                case LogicalType.Array: return new Elements(1, Inner(column, value));
                case LogicalType.Struct: return Members(column, value);
                default: return value.Select(each => Members(column, (List<object>)each)).ToArray();
            }
        }

        static object[] Inner(Column column, List<object> value)
        {
            Column element = column.Element;
            return value.Select(each => Natural(
                !element.Nested && (each is List<object> || each is Dictionary<string, object>) ? column : element,
                each)).ToArray();
        }

        static object Members(Column column, List<object> value) =>
            value.Select((each, at) => Natural(column.Fields[at], each)).ToArray();

        static byte[] Bytes(string hexadecimal)
        {
            return Enumerable.Range(0, hexadecimal.Length / 2)
                .Select(at => byte.Parse(hexadecimal.Substring(2 * at, 2), NumberStyles.AllowHexSpecifier)).ToArray();
        }
    }
}
