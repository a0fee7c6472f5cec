using System;

namespace Rowpath
{
    /// <summary>How many collections the garbage collector made since this object was made.</summary>
    sealed class Collector
    {
        readonly int before = Count();

        internal long Collections() => Count() - before;

        static int Count()
        {
            return GC.CollectionCount(0); // a collection of the old generation counts for the young one too
        }
    }
}
