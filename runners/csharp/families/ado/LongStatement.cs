using System;
using System.Data.Common;
using System.Threading;
using System.Threading.Tasks;

namespace Rowpath.Ado
{
    /// <summary>Whether a driver honours a request to stop a statement that runs for long.</summary>
    static class LongStatement
    {
        const int PatienceMs = 2000;

        /// <summary>Runs the statement on a thread of its own and has it stopped.</summary>
        internal static Interruption.Outcome Stop(Adapter adapter, Interruption asked)
        {
            DbCommand command = adapter.Command(asked.Sql);
            bool cancel = asked.Way == "cancel";
            command.CommandTimeout = 0; // never
            if (asked.Way == "timeout") command.CommandTimeout = Math.Max((asked.AfterMs + 999) / 1000, 1);
            else if (!cancel) throw new Failure("unsupported", "", "ADO.NET knows no behaviour " + asked.Way);
            long start = Native.NowNs();
            Task query = Task.Factory.StartNew(() => Drain(command), TaskCreationOptions.LongRunning);
            if (cancel)
            {
                Thread.Sleep(asked.AfterMs);
                command.Cancel();
            }
            string text = Wait(query, asked.MostMs - (int)((Native.NowNs() - start) / 1000000));
            long tookNs = Native.NowNs() - start;
            if (text == null)
            {
                command.Cancel(); // so that the connection can be closed
                Wait(query, PatienceMs);
                return new Interruption.Outcome(false, tookNs, false, "the statement went on");
            }
            command.Dispose();
            bool usable = Answers(adapter);
            return text == ""
                ? new Interruption.Outcome(false, tookNs, usable, "the statement came to its own end")
                : new Interruption.Outcome(true, tookNs, usable, text);
        }

        /// <summary>What stopped it; empty when it came to its own end, null when it goes on.</summary>
        static string Wait(Task query, int ms)
        {
            try
            {
                return query.Wait(Math.Max(ms, 1)) ? "" : null;
            }
            catch (AggregateException stopped)
            {
                return stopped.InnerException.Message;
            }
        }

        static bool Answers(Adapter adapter)
        {
            try
            {
                return adapter.Ask("SELECT 1") == "1";
            }
            catch (DbException)
            {
                return false;
            }
        }

        static void Drain(DbCommand command)
        {
            using (DbDataReader rows = command.ExecuteReader())
                while (rows.Read())
                    continue;
        }
    }
}
