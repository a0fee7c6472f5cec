namespace Rowpath
{
    /// <summary>What one client writes in the clock lies at least 128 bytes behind the object before it: two clients
    /// never write to the same cache line, nor to two that are fetched as a pair.</summary>
    public abstract class CacheLinePadded
    {
        protected long P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15;
    }
}
