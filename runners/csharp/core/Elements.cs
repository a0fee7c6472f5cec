using System.Collections;

namespace Rowpath
{
    /// <summary>An array with the lower bound of its first dimension; a further dimension is elements that are arrays
    /// themselves.</summary>
    public sealed class Elements
    {
        internal readonly int Lower;
        internal readonly IList Values;

        public Elements(int lower, IList values)
        {
            Lower = lower;
            Values = values;
        }
    }
}
