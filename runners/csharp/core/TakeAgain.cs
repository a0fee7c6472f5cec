using System;

namespace Rowpath
{
    /// <summary>A getter has refused a value that the driver does not hand over twice: the query is to be executed
    /// again with the column's other getter.</summary>
    sealed class TakeAgain : Exception
    {
        internal readonly int Column;

        internal TakeAgain(int column) : base("column " + column + " must be taken as text")
        {
            Column = column;
        }
    }
}
