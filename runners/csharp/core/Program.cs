using System;
using System.Collections.Concurrent;
using System.IO;
using System.Text;
using System.Threading;

namespace Rowpath
{
    /// <summary><c>RUNNER --adapter DRIVER --class CLASS</c>: the C# runner of the protocol in PROTOCOL.md.</summary>
    static class Program
    {
        const int StackBytes = 16 << 20;

        /// <summary>Watches stdin on this thread; the loop and everything else run on a thread of their own.</summary>
        static int Main(string[] arguments)
        {
            if (arguments.Length != 4 || arguments[0] != "--adapter" || arguments[2] != "--class")
            {
                Console.Error.WriteLine("usage: RUNNER --adapter DRIVER --class CLASS");
                return 2;
            }
            Native.DieWithParent();
            int replies = Native.MoveStdoutAside();
            var requests = new BlockingCollection<string>();
            var session = new Session(arguments[1], arguments[3], requests, replies);
            new Thread(session.Run, StackBytes) { Name = "rowpath-loop", IsBackground = true }.Start();
            var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
            for (string line = input.ReadLine(); line != null; line = input.ReadLine()) requests.Add(line);
            // The controller is gone: stop at once, in the middle of a sample too.
            if (!session.Ended) Native.Exit(0);
            Thread.Sleep(Timeout.Infinite); // the session ends the process itself
            return 0;
        }
    }
}
