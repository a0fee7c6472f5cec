using System;
using System.Collections.Generic;
using System.Globalization;

namespace Rowpath
{
    /// <summary>The options of <c>open</c>, as strings.</summary>
    public sealed class Options
    {
        readonly Dictionary<string, object> values;

        internal Options(Dictionary<string, object> values)
        {
            this.values = values;
        }

        /// <summary>The option, or <c>otherwise</c> when it is absent, empty or <c>none</c>.</summary>
        public string Get(string name, string otherwise)
        {
            object value;
            bool given = values.TryGetValue(name, out value);
            string text = given ? Convert.ToString(value, CultureInfo.InvariantCulture) : "";
            return text == "" || text == "none" ? otherwise : text;
        }

        /// <summary>The option; a Failure when it is missing.</summary>
        public string Need(string name)
        {
            string value = Get(name, null);
            if (value == null) throw new Failure("connect", "", "the option " + name + " is missing");
            return value;
        }

        /// <summary>The option as a number; 0 when it is absent.</summary>
        public long Number(string name) => (long)double.Parse(Get(name, "0"), CultureInfo.InvariantCulture);

        /// <summary><c>n</c> of a value written <c>prefix:n</c>; 0 for any other value.</summary>
        public int Count(string name, string prefix)
        {
            string value = Get(name, "");
            return value.StartsWith(prefix + ":", StringComparison.Ordinal)
                ? int.Parse(value.Substring(prefix.Length + 1), CultureInfo.InvariantCulture)
                : 0;
        }
    }
}
