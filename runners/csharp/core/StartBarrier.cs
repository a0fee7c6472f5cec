using System.Threading;

namespace Rowpath
{
    /// <summary>Where the clients of a sample meet between their lead-ins and their blocks.</summary>
    sealed class StartBarrier
    {
        readonly CountdownEvent coming;
        readonly ManualResetEventSlim open = new ManualResetEventSlim(false, 0);
        long openedNs;

        internal StartBarrier(int clients)
        {
            coming = new CountdownEvent(clients);
        }

        /// <summary>Waits, as a client, until all have come; returns when the blocks began, for all the same.</summary>
        internal long Join()
        {
            coming.Signal();
            open.Wait();
            return openedNs;
        }

        /// <summary>Counts a client that cannot come.</summary>
        internal void Leave()
        {
            coming.Signal();
        }

        /// <summary>Waits until all clients have come, then lets all go on.</summary>
        internal void Open()
        {
            coming.Wait();
            openedNs = Native.NowNs();
            open.Set();
        }
    }
}
