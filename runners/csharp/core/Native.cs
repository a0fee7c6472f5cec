using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Security;

namespace Rowpath
{
    /// <summary>What the class library has no word for: the kernel's clocks, descriptors, thread ids.</summary>
    [SuppressUnmanagedCodeSecurity]
    public static class Native
    {
        const int Monotonic = 1;
        const int ThreadCpu = 3;
        const int DeathSignal = 1; // PR_SET_PDEATHSIG
        const int TimerSlack = 29; // PR_SET_TIMERSLACK
        const int Kill = 9;
        const int Interrupted = 4; // EINTR

        [StructLayout(LayoutKind.Sequential)]
        struct Timespec
        {
            public long Seconds;
            public long Nanoseconds;
        }

        [DllImport("libc")]
        static extern int clock_gettime(int clock, out Timespec time);

        [DllImport("libc")]
        static extern int nanosleep(ref Timespec time, IntPtr left);

        [DllImport("libc")]
        static extern int prctl(int option, ulong a, ulong b, ulong c, ulong d);

        [DllImport("libc")]
        static extern int getppid();

        [DllImport("libc")]
        static extern int gettid();

        [DllImport("libc")]
        static extern int dup(int descriptor);

        [DllImport("libc")]
        static extern int dup2(int from, int to);

        [DllImport("libc", SetLastError = true)]
        static extern IntPtr write(int descriptor, byte[] bytes, UIntPtr count);

        [DllImport("libc")]
        static extern void _exit(int status);

        /// <summary>Nanoseconds of the monotonic clock. Not Stopwatch: Mono's counts whole units of 100 ns.</summary>
        public static long NowNs()
        {
            Timespec time;
            clock_gettime(Monotonic, out time);
            return time.Seconds * 1000000000 + time.Nanoseconds;
        }

        /// <summary>CPU so far of the calling thread, in nanoseconds.</summary>
        public static long ThreadCpuNs()
        {
            Timespec time;
            clock_gettime(ThreadCpu, out time);
            return time.Seconds * 1000000000 + time.Nanoseconds;
        }

        /// <summary>Sleeps so long, or until a signal. Not Thread.Sleep: Mono's counts whole milliseconds.</summary>
        public static void Sleep(long ns)
        {
            var time = new Timespec { Seconds = ns / 1000000000, Nanoseconds = ns % 1000000000 };
            nanosleep(ref time, IntPtr.Zero);
        }

        /// <summary>Has the kernel end this thread's sleeps when they are over, not up to 50 µs later.</summary>
        public static void WakePromptly()
        {
            prctl(TimerSlack, 1, 0, 0, 0);
        }

        /// <summary>The kernel's id of the calling thread.</summary>
        public static int ThreadId() => gettid();

        /// <summary>Has the kernel kill this process when its parent dies.</summary>
        public static void DieWithParent()
        {
            int parent = getppid();
            prctl(DeathSignal, Kill, 0, 0, 0);
            if (getppid() != parent) Exit(0);
        }

        /// <summary>A private copy of stdout; descriptor 1 itself leads to stderr from now on.</summary>
        public static int MoveStdoutAside()
        {
            int aside = dup(1);
            if (aside < 0 || dup2(2, 1) < 0) throw new InvalidOperationException("stdout cannot be moved aside");
            return aside;
        }

        /// <summary>Writes all bytes. (Mono's streams take no descriptor that was opened elsewhere.)</summary>
        public static void Write(int descriptor, byte[] bytes)
        {
            while (bytes.Length > 0)
            {
                long written = (long)write(descriptor, bytes, (UIntPtr)bytes.Length);
                if (written < 0 && Marshal.GetLastWin32Error() == Interrupted) continue;
                if (written < 0) throw new IOException("errno " + Marshal.GetLastWin32Error());
                var rest = new byte[bytes.Length - written];
                Array.Copy(bytes, written, rest, 0, rest.Length);
                bytes = rest;
            }
        }

        /// <summary>Ends at once, whatever other threads do.</summary>
        public static void Exit(int status)
        {
            _exit(status);
        }
    }
}
