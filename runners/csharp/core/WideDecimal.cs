using System;
using System.Data.SqlTypes;

namespace Rowpath
{
    /// <summary>A decimal of any number of digits: a SqlDecimal while it fits, else its text; so are NaN and the
    /// infinities. By a look at the text, because an exception takes as long as hundreds of values.</summary>
    public struct WideDecimal
    {
        const int Surely = 38; // characters: a SqlDecimal has so many digits
        const int Possibly = 41; // a sign, a zero and a point beside them

        internal readonly SqlDecimal Value;
        internal readonly string Text; // null while it fits

        WideDecimal(SqlDecimal value, string text)
        {
            Value = value;
            Text = text;
        }

        public static WideDecimal Of(string text)
        {
            bool number = text != "" && text[text.Length - 1] <= '9';
            if (number && text.Length <= Surely) return new WideDecimal(SqlDecimal.Parse(text), null);
            if (!number || text.Length > Possibly) return new WideDecimal(SqlDecimal.Null, text);
            try
            {
                return new WideDecimal(SqlDecimal.Parse(text), null);
            }
            catch (OverflowException)
            {
                return new WideDecimal(SqlDecimal.Null, text);
            }
        }

        public override string ToString() => Text ?? Value.ToString();
    }
}
