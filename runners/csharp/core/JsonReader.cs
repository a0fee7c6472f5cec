using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Rowpath
{
    /// <summary>Reads one JSON text from its beginning to its end; FormatException where it is none.</summary>
    sealed class JsonReader
    {
        const int Deepest = 100;

        readonly string text;
        int at;
        int depth;

        internal JsonReader(string text)
        {
            this.text = text;
        }

        internal object Whole()
        {
            object value = Value();
            if (Peek() != '\0' || at < text.Length) throw Wrong();
            return value;
        }

        object Value()
        {
            switch (Peek())
            {
                case '{': return Object();
                case '[': return List();
                case '"': return String();
                case 't': return Word("true", true);
                case 'f': return Word("false", false);
                case 'n': return Word("null", null);
                default: return Number();
            }
        }

        Dictionary<string, object> Object()
        {
            var fields = new Dictionary<string, object>();
            for (bool more = Enter('}'); more; more = Further('}'))
            {
                if (Peek() != '"') throw Wrong();
                string name = String();
                if (Peek() != ':') throw Wrong();
                at++;
                fields[name] = Value();
            }
            return fields;
        }

        List<object> List()
        {
            var values = new List<object>();
            for (bool more = Enter(']'); more; more = Further(']')) values.Add(Value());
            return values;
        }

        bool Enter(char end)
        {
            if (++depth > Deepest) throw Wrong();
            at++;
            return !Ends(end);
        }

        bool Further(char end)
        {
            if (Ends(end)) return false;
            if (Peek() != ',') throw Wrong();
            at++;
            return true;
        }

        bool Ends(char end)
        {
            if (Peek() != end) return false;
            at++;
            depth--;
            return true;
        }

        string String()
        {
            var value = new StringBuilder();
            at++;
            for (; at < text.Length && text[at] != '"'; at++)
            {
                if (text[at] != '\\')
                {
                    value.Append(text[at]);
                    continue;
                }
                if (++at >= text.Length) throw Wrong();
                int known = "bfnrt\"\\/".IndexOf(text[at]);
                if (known >= 0) value.Append("\b\f\n\r\t\"\\/"[known]);
                else if (text[at] == 'u' && at + 4 < text.Length)
                {
                    value.Append((char)ushort.Parse(text.Substring(at + 1, 4), NumberStyles.AllowHexSpecifier));
                    at += 4;
                }
                else throw Wrong();
            }
            if (at++ >= text.Length) throw Wrong();
            return value.ToString();
        }

        object Number()
        {
            int from = at;
            while (at < text.Length && "+-.0123456789eE".IndexOf(text[at]) >= 0) at++;
            string digits = text.Substring(from, at - from);
            long whole;
            if (long.TryParse(digits, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out whole))
                return whole;
            return double.Parse(digits, NumberStyles.Float, CultureInfo.InvariantCulture);
        }

        object Word(string word, object value)
        {
            if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0) throw Wrong();
            at += word.Length;
            return value;
        }

        char Peek()
        {
            while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0) at++;
            return at < text.Length ? text[at] : '\0';
        }

        FormatException Wrong() => new FormatException("no JSON at character " + at);
    }
}
