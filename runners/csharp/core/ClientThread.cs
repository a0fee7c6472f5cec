using System;
using System.Threading;

namespace Rowpath
{
    /// <summary>The thread of one client, there before the first sample and waiting between samples.</summary>
    sealed class ClientThread
    {
        const int StackBytes = 16 << 20;

        readonly SemaphoreSlim wanted = new SemaphoreSlim(0);
        readonly SemaphoreSlim done = new SemaphoreSlim(0);
        Func<SamplePart> task;
        SamplePart part;
        Exception thrown;

        internal ClientThread()
        {
            Started(Serve);
        }

        /// <summary>A client's thread, at work with that; it does not keep the process alive.</summary>
        internal static Thread Started(ThreadStart body)
        {
            var thread = new Thread(body, StackBytes) { Name = "rowpath-client", IsBackground = true };
            thread.Start();
            return thread;
        }

        internal void Begin(Func<SamplePart> sample)
        {
            task = sample;
            wanted.Release();
        }

        /// <summary>Waits for what was begun; what it threw is thrown here.</summary>
        internal SamplePart End()
        {
            done.Wait();
            if (thrown != null) throw thrown;
            return part;
        }

        internal void Stop()
        {
            Begin(null);
        }

        void Serve()
        {
            for (wanted.Wait(); task != null; wanted.Wait())
            {
                thrown = null;
                try
                {
                    part = task();
                }
                catch (Exception broken)
                {
                    thrown = broken;
                }
                done.Release();
            }
        }
    }
}
