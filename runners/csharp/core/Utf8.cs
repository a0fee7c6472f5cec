using System.Collections.Generic;
using System.Text;

namespace Rowpath
{
    /// <summary>Text as UTF-8; half of a surrogate pair is three bytes, as the codec has it.</summary>
    static class Utf8
    {
        static readonly Encoding Strict = new UTF8Encoding(false, true);

        internal static byte[] Bytes(string text)
        {
            try
            {
                return Strict.GetBytes(text);
            }
            catch (EncoderFallbackException)
            {
                return WithHalves(text);
            }
        }

        static byte[] WithHalves(string text)
        {
            var bytes = new List<byte>();
            for (int at = 0; at < text.Length; at++)
            {
                char unit = text[at];
                bool pair = char.IsSurrogatePair(text, at);
                if (char.IsSurrogate(unit) && !pair)
                {
                    bytes.Add((byte)(0xe0 | unit >> 12));
                    bytes.Add((byte)(0x80 | unit >> 6 & 0x3f));
                    bytes.Add((byte)(0x80 | unit & 0x3f));
                    continue;
                }
                bytes.AddRange(Strict.GetBytes(text.Substring(at, pair ? 2 : 1)));
                if (pair) at++;
            }
            return bytes.ToArray();
        }
    }
}
