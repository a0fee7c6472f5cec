namespace Rowpath
{
    /// <summary>What the operations of a sample delivered; only the thread of one client touches it.</summary>
    public sealed class SampleCounters : CacheLinePadded
    {
        /// <summary>Rows delivered.</summary>
        public long Rows;

        /// <summary>Their touch sum.</summary>
        public long Touch;

        /// <summary>Kind <c>connect</c>: time to connect and log in.</summary>
        public long ConnectNs;

        /// <summary>Null outside of <c>verify</c>: where rows are encoded.</summary>
        internal Encoder Encoder;

        /// <summary>Whether execute and first row are stamped.</summary>
        internal bool Stamps;

        internal long ExecuteNs;
        internal long FirstRowNs;

        long startNs;
        long rowsBefore;
        long touchBefore;
        long connectBefore;
        long executeBefore;
        long firstRowBefore;

        /// <summary>To be called by an operation as soon as the driver's execute has returned.</summary>
        public void Executed()
        {
            if (Stamps) ExecuteNs += Native.NowNs() - startNs;
        }

        /// <summary>To be called as soon as the first row was taken.</summary>
        public void FirstRow()
        {
            if (Stamps) FirstRowNs += Native.NowNs() - startNs;
        }

        internal void Begin(long now)
        {
            startNs = now;
            rowsBefore = Rows;
            touchBefore = Touch;
            connectBefore = ConnectNs;
            executeBefore = ExecuteNs;
            firstRowBefore = FirstRowNs;
        }

        /// <summary>Forgets the operation under way: a failed operation is never part of a result.</summary>
        internal void Undo()
        {
            Rows = rowsBefore;
            Touch = touchBefore;
            ConnectNs = connectBefore;
            ExecuteNs = executeBefore;
            FirstRowNs = firstRowBefore;
        }

        internal void Reset()
        {
            Rows = Touch = ConnectNs = ExecuteNs = FirstRowNs = 0;
        }
    }
}
