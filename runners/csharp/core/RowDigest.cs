namespace Rowpath
{
    /// <summary>Hashes added up: without their order, and with it.</summary>
    class RowDigest
    {
        const ulong OrderFactor = 0x9E3779B97F4A7C15;

        ulong sum;
        ulong order;

        internal long Rows { get; private set; }

        internal long Sum => (long)sum;

        internal long Order => (long)order;

        internal RowDigest Copy() => (RowDigest)MemberwiseClone();

        internal void Add(ulong hash)
        {
            Rows++;
            sum = unchecked(sum + hash);
            order = unchecked(order * OrderFactor + hash);
        }
    }
}
