using System;
using System.Linq;

namespace Rowpath.Ado
{
    /// <summary>The bulk way <c>multi-row</c>: an operation's rows by INSERTs of as many rows as their placeholders
    /// allow.</summary>
    static class MultiRow
    {
        const int MostPlaceholders = 999; // SQLite's own limit before 3.32

        /// <summary>The operation, in one transaction; <c>statement</c> makes an INSERT of rows, each with its
        /// parameters.</summary>
        internal static Operation Of(
            Adapter adapter, Phase phase, object[][] rows, Func<Phase, object[][], Statement> statement)
        {
            int all = phase.RowsPerOperation, width = phase.ParameterColumns.Length;
            if (width == 0 || width > MostPlaceholders)
                throw new Failure("unsupported", "", width + " placeholders in a row");
            int most = Math.Min(all, MostPlaceholders / width), times = all / most, rest = all % most;
            Statement full = statement(phase.OfRows(most), Joined(rows, all, 0, most, times));
            return rest == 0
                ? new InTransaction(adapter, new[] { full }, new[] { times })
                : new InTransaction(adapter,
                    new[] { full, statement(phase.OfRows(rest), Joined(rows, all, times * most, rest, 1)) },
                    new[] { times, 1 });
        }

        /// <summary>Of each <c>all</c> rows, from <c>first</c> on, <c>times</c> times the parameters of <c>size</c>
        /// rows.</summary>
        static object[][] Joined(object[][] rows, int all, int first, int size, int times) =>
            Enumerable.Range(0, rows.Length / all * times)
                .Select(at => at / times * all + first + at % times * size)
                .Select(from => Enumerable.Range(from, size).SelectMany(row => rows[row]).ToArray()).ToArray();
    }
}
