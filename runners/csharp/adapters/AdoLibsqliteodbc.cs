using System;
using System.Collections.Generic;
using System.Data.Common;
using System.Globalization;
using System.Linq;
using System.Text;
using Rowpath.Ado;
using Rowpath.Sqlite;

namespace Rowpath.Adapters
{
    /// <summary>System.Data.Odbc over libsqliteodbc; its options: http://www.ch-werner.de/sqliteodbc/html/index.html.
    /// Decimals, dates and times are text in the database, and the driver's own timestamps end at milliseconds. It
    /// takes no UTF-16, which the driver manager hands on as Latin-1: file names are URIs, other text is written as
    /// bytes.</summary>
    public sealed class AdoLibsqliteodbc : Odbc.Adapter
    {
        protected override void Login(Dictionary<string, string> words)
        {
            bool durable = Options.Get("durability", "none") == "full";
            words["Database"] =
                "file://" + string.Join("/", Options.Need("path").Split('/').Select(Uri.EscapeDataString));
            words["NoCreat"] = "1";
            words["Timeout"] = "60000";
            words["SyncPragma"] = durable ? "FULL" : "OFF";
            if (durable) words["JournalMode"] = "WAL";
            if (Options.Get("result", "single-row") == "single-row") words["StepAPI"] = "1";
        }

        public override Operation Prepare(Phase phase, object[][] rows)
        {
            RefuseBeyondAscii(phase.Sql);
            return base.Prepare(phase, rows);
        }

        public override IEnumerable<DescribedColumn> Describe(string sql)
        {
            RefuseBeyondAscii(sql);
            return Sqlite.Description.Of(this, sql);
        }

        static void RefuseBeyondAscii(string sql)
        {
            if (sql.Any(character => character > '\x7f'))
                throw new Failure("unsupported", "", "libsqliteodbc takes no SQL beyond ASCII");
        }

        protected override Getter Getter(Column column)
        {
            if (column.Type == LogicalType.Binary) return Rowpath.Getter.FromString(BytesOfText);
            return SqliteText.Getter(column) ?? base.Getter(column);
        }

        /// <summary>GetValue would cut it to the 32 bits that the driver declares (with its option BigInt: a type that
        /// System.Data.Odbc does not know).</summary>
        protected override Getter LongInteger() => Rowpath.Getter.FromString(Values.LongOfText, HasNoText);

        /// <summary>The driver declares it as text: <c>X'00FF'</c>.</summary>
        static byte[] BytesOfText(DbDataReader rows, int at)
        {
            string text = rows.GetString(at);
            var bytes = new byte[text.Length / 2 - 1];
            for (int place = 0; place < bytes.Length; place++)
                bytes[place] = byte.Parse(text.Substring(2 * place + 2, 2), NumberStyles.AllowHexSpecifier);
            return bytes;
        }

        protected override Func<object, object> Converter(Column column) => SqliteText.Converter(column);

        public override string Literal(Column column, object value)
        {
            var text = value as string;
            if (text != null && text.Any(character => character > '\x7f'))
                return "CAST(X'" + Literals.Hex(Encoding.UTF8.GetBytes(text)) + "' AS TEXT)";
            return SqliteText.Literal(column, value) ?? base.Literal(column, value);
        }

        public override void Facts(Facts facts)
        {
            base.Facts(facts);
            SqliteText.Facts(this, facts);
        }
    }
}
