using System;
using System.Globalization;
using System.Text;

namespace Rowpath
{
    /// <summary>A value that has no bytes in its column's type: its own text stands for it.</summary>
    sealed class Foreign
    {
        const int MostBytes = 100;

        internal readonly string Text;
        internal readonly string Reason;

        internal Foreign(Column column, object value)
        {
            var bytes = value as byte[];
            Text = Cut(bytes == null
                ? Convert.ToString(value, CultureInfo.InvariantCulture) ?? ""
                : BitConverter.ToString(bytes).Replace("-", "").ToLowerInvariant());
            Reason = value is DateTime
                ? "no common form: the driver makes DateTime of the text"
                : value.GetType().Name + " '" + Failure.Plain(Text) + "' in a column of type " + column.TypeName;
        }

        /// <summary>No more bytes than the codec takes, and no half of a character.</summary>
        static string Cut(string text)
        {
            int at = 0;
            for (int bytes = 0; at < text.Length; at++)
            {
                bool pair = char.IsSurrogatePair(text, at);
                bytes += pair ? 4 : text[at] < '\x80' ? 1 : text[at] < '\x800' ? 2 : 3;
                if (bytes > MostBytes) break;
                if (pair) at++;
            }
            return Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text.Substring(0, at)));
        }
    }
}
