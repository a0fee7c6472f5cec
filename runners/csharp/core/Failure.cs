using System;
using System.Collections.Generic;
using System.Data.Common;
using System.Text;

namespace Rowpath
{
    /// <summary>An error with the protocol's kind and the driver's own code.</summary>
    public sealed class Failure : Exception
    {
        readonly string kind;
        readonly string code;

        /// <summary>Kinds: connect, sql, unsupported, verify, timeout, internal; an empty code means none.</summary>
        public Failure(string kind, string code, string text) : base(text)
        {
            this.kind = kind;
            this.code = code;
        }

        /// <summary>What a driver threw, as the protocol's error; <c>kind</c> is used where the cause has none.
        /// <c>codeOf</c> knows the driver's codes (null before there is an adapter).</summary>
        internal static Dictionary<string, object> Body(
            Exception thrown, string kind, Func<DbException, string> codeOf)
        {
            string code = "";
            var failure = thrown as Failure;
            if (failure != null)
            {
                kind = failure.kind;
                code = failure.code;
            }
            else if (thrown is DbException)
            {
                code = codeOf == null ? "" : codeOf((DbException)thrown);
                if (code.StartsWith("08", StringComparison.Ordinal)) kind = "connect";
                if (code == "HYC00" || code == "IM001") kind = "unsupported"; // ODBC: not implemented
            }
            else if (thrown is InvalidCastException || thrown is FormatException || thrown is OverflowException
                     || thrown is ArgumentOutOfRangeException)
            {
                kind = "unsupported"; // a parameter that the driver has no room for
            }
            else
            {
                kind = "internal";
                code = thrown.GetType().Name;
            }
            string text = Plain(Told(thrown));
            return new Dictionary<string, object> { { "kind", kind }, { "code", code }, { "text", text } };
        }

        /// <summary>A text with each run of control characters made one blank.</summary>
        internal static string Plain(string text)
        {
            var plain = new StringBuilder(text.Length);
            foreach (char character in text)
            {
                if (!char.IsControl(character)) plain.Append(character);
                else if (plain.Length > 0 && plain[plain.Length - 1] != ' ') plain.Append(' ');
            }
            return plain.ToString().Trim();
        }

        static string Told(Exception thrown)
        {
            string text = thrown.Message;
            for (Exception cause = thrown.InnerException; cause != null; cause = cause.InnerException)
                if (!text.Contains(cause.Message)) text += ": " + cause.Message;
            return text;
        }
    }
}
