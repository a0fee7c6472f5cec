using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Rowpath
{
    /// <summary>JSON text from and to dictionaries, lists, strings, long, double, bool and null.</summary>
    public static class Json
    {
        /// <summary>The object that a text is; FormatException for anything else.</summary>
        public static Dictionary<string, object> Parse(string text)
        {
            var reader = new JsonReader(text);
            var value = reader.Whole() as Dictionary<string, object>;
            if (value == null) throw new FormatException("no JSON object");
            return value;
        }

        /// <summary>One line of JSON.</summary>
        public static string Format(object value)
        {
            var text = new StringBuilder();
            Write(text, value);
            return text.ToString();
        }

        /// <summary>The text in a field; empty when it is absent or none.</summary>
        public static string Text(this Dictionary<string, object> fields, string name)
        {
            object value;
            return fields.TryGetValue(name, out value) ? value as string ?? "" : "";
        }

        /// <summary>The number in a field.</summary>
        public static long Number(this Dictionary<string, object> fields, string name, long otherwise)
        {
            object value;
            fields.TryGetValue(name, out value);
            return value is long ? (long)value : value is double ? (long)(double)value : otherwise;
        }

        /// <summary>The number in a field, with its fraction; 0 when it is absent.</summary>
        public static double Real(this Dictionary<string, object> fields, string name)
        {
            object value;
            fields.TryGetValue(name, out value);
            return value is double ? (double)value : fields.Number(name, 0);
        }

        /// <summary>Whether a field is true.</summary>
        public static bool True(this Dictionary<string, object> fields, string name)
        {
            object value;
            return fields.TryGetValue(name, out value) && value is bool && (bool)value;
        }

        static void Write(StringBuilder text, object value)
        {
            if (value == null) text.Append("null");
            else if (value is string) WriteString(text, (string)value);
            else if (value is bool) text.Append((bool)value ? "true" : "false");
            else if (value is IDictionary) WriteObject(text, (IDictionary)value);
            else if (value is IEnumerable) WriteList(text, (IEnumerable)value);
            else
                text.Append(((IFormattable)value).ToString(value is double ? "R" : null, CultureInfo.InvariantCulture));
        }

        static void WriteObject(StringBuilder text, IDictionary fields)
        {
            char mark = '{';
            foreach (DictionaryEntry field in fields)
            {
                text.Append(mark);
                WriteString(text, (string)field.Key);
                text.Append(':');
                Write(text, field.Value);
                mark = ',';
            }
            text.Append(mark == '{' ? "{}" : "}");
        }

        static void WriteList(StringBuilder text, IEnumerable values)
        {
            char mark = '[';
            foreach (object value in values)
            {
                text.Append(mark);
                Write(text, value);
                mark = ',';
            }
            text.Append(mark == '[' ? "[]" : "]");
        }

        static void WriteString(StringBuilder text, string value)
        {
            text.Append('"');
            foreach (char character in value)
            {
                if (character == '"' || character == '\\') text.Append('\\').Append(character);
                else if (character < ' ' || char.IsSurrogate(character)) // half a pair has no UTF-8
                    text.Append("\\u").Append(((int)character).ToString("x4", CultureInfo.InvariantCulture));
                else text.Append(character);
            }
            text.Append('"');
        }
    }
}
