using System;
using System.Data.Common;

namespace Rowpath.Ado
{
    /// <summary>An operation that is one statement; its commands run in <c>Transaction</c> where there is
    /// one.</summary>
    abstract class Statement : Operation
    {
        protected readonly Adapter Adapter;
        protected readonly Phase Phase;
        protected readonly object[][] Rows;
        readonly RowLoop loop;

        /// <summary>The transaction under way, or null.</summary>
        internal DbTransaction Transaction;

        /// <summary><c>rows</c> are the phase's parameters; <c>loop</c> is null where no rows come back.</summary>
        protected Statement(Adapter adapter, Phase phase, object[][] rows, RowLoop loop)
        {
            Adapter = adapter;
            Phase = phase;
            Rows = rows;
            this.loop = loop;
        }

        public override Getter[] Getters => loop == null ? new Getter[0] : loop.Getters;

        protected void Execute(DbCommand command, SampleCounters counters)
        {
            command.Transaction = Transaction;
            if (loop == null)
            {
                command.ExecuteNonQuery();
                counters.Executed();
                return;
            }
            while (!Taken(command, counters)) continue;
        }

        /// <summary>False when a value was lost: the query is to be executed again. That happens once in a phase and
        /// column.</summary>
        bool Taken(DbCommand command, SampleCounters counters)
        {
            if (counters.Encoder != null) counters.Encoder.Mark();
            try
            {
                using (DbDataReader rows = command.ExecuteReader())
                {
                    counters.Executed();
                    loop.Take(rows, counters);
                }
                return true;
            }
            catch (TakeAgain lost)
            {
                loop.TakeAsText(lost.Column);
                if (counters.Encoder != null) counters.Encoder.Back();
                return false;
            }
        }
    }

    /// <summary><c>prepared</c>: one prepared command, kept.</summary>
    sealed class Prepared : Statement
    {
        readonly DbCommand command;
        readonly Parameters parameters;

        internal Prepared(Adapter adapter, Phase phase, object[][] rows, RowLoop loop)
            : base(adapter, phase, rows, loop)
        {
            command = adapter.Command(phase.Sql);
            parameters = adapter.Parameters(command, phase.ParameterColumns);
            command.Prepare();
        }

        public override void Run(int row, SampleCounters counters)
        {
            parameters.Set(Rows, row);
            Execute(command, counters);
        }

        public override void Close()
        {
            command.Dispose();
        }
    }

    /// <summary><c>bound</c>: a command with parameters made for each execution, never prepared.</summary>
    sealed class Bound : Statement
    {
        internal Bound(Adapter adapter, Phase phase, object[][] rows, RowLoop loop) : base(adapter, phase, rows, loop)
        {
        }

        public override void Run(int row, SampleCounters counters)
        {
            using (DbCommand command = Adapter.Command(Phase.Sql))
            {
                Adapter.Parameters(command, Phase.ParameterColumns).Set(Rows, row);
                Execute(command, counters);
            }
        }
    }

    /// <summary><c>text</c>: the values inside the SQL.</summary>
    sealed class Text : Statement
    {
        readonly DbCommand command;
        readonly string[] texts;

        internal Text(Adapter adapter, Phase phase, object[][] rows, RowLoop loop) : base(adapter, phase, rows, loop)
        {
            command = adapter.Command("");
            texts = Literals.Texts(phase, rows, adapter.Literal);
        }

        public override void Run(int row, SampleCounters counters)
        {
            command.CommandText = texts[row];
            Execute(command, counters);
        }

        public override void Close()
        {
            command.Dispose();
        }
    }

    /// <summary>Statements, each executed so many times, between the beginning of a transaction and its
    /// commit.</summary>
    sealed class InTransaction : Operation
    {
        readonly Adapter adapter;
        readonly Statement[] statements;
        readonly int[] times;

        internal InTransaction(Adapter adapter, Statement[] statements, int[] times)
        {
            this.adapter = adapter;
            this.statements = statements;
            this.times = times;
        }

        public override Getter[] Getters => statements[0].Getters;

        public override void Run(int row, SampleCounters counters)
        {
            using (DbTransaction transaction = adapter.Begin())
            {
                try
                {
                    for (int each = 0; each < statements.Length; each++) Run(each, transaction, row, counters);
                }
                catch (Exception)
                {
                    transaction.Rollback();
                    throw;
                }
                transaction.Commit();
            }
        }

        void Run(int each, DbTransaction transaction, int row, SampleCounters counters)
        {
            Statement statement = statements[each];
            statement.Transaction = transaction;
            try
            {
                for (int at = row * times[each]; at < (row + 1) * times[each]; at++) statement.Run(at, counters);
            }
            finally
            {
                statement.Transaction = null;
            }
        }

        public override void Close()
        {
            foreach (Statement statement in statements) statement.Close();
        }
    }

    /// <summary>Kind <c>connect</c>: a fresh connection, its first query, its end.</summary>
    sealed class Connecting : Statement
    {
        internal Connecting(Adapter adapter, Phase phase, RowLoop loop) : base(adapter, phase, null, loop)
        {
        }

        public override void Run(int row, SampleCounters counters)
        {
            long start = Native.NowNs();
            using (DbConnection fresh = Adapter.Connect())
            {
                counters.ConnectNs += Native.NowNs() - start;
                using (DbCommand command = fresh.CreateCommand())
                {
                    command.CommandText = Phase.Sql;
                    Execute(command, counters);
                }
            }
        }
    }
}
