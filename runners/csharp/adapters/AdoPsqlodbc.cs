using System;
using System.Collections.Generic;
using System.Data.Common;
using System.Diagnostics;
using System.IO;
using System.Linq;
using Rowpath.Ado;
using Rowpath.Odbc;
using Rowpath.Postgresql;

namespace Rowpath.Adapters
{
    /// <summary>System.Data.Odbc over psqlodbc, the Unicode driver; its options:
    /// https://odbc.postgresql.org/docs/config-opt.html.</summary>
    public sealed class AdoPsqlodbc : Odbc.Adapter
    {
        // Of what PostgreSQL declares no size of: character varying, numeric.
        const int MadeUpLength = 255;
        const int MadeUpDigits = 28;
        const int MadeUpScale = 6;

        static readonly string[] LibpqTimes =
            { "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout" };

        /// <summary>The driver's own defaults, but: no savepoint around each statement of a transaction, booleans as
        /// such.</summary>
        protected override void Login(Dictionary<string, string> words)
        {
            AddServer(words);
            string tls = Options.Get("tls", "off");
            if (tls != "default") words["SSLmode"] = tls == "on" ? "require" : tls == "off" ? "disable" : tls;
            int fetched = Options.Count("result", "cursor");
            if (fetched > 0)
            {
                words["UseDeclareFetch"] = "1";
                words["Fetch"] = fetched.ToString();
            }
            words["Protocol"] = "7.4-1";
            words["BoolsAsChar"] = "0";
            words["pqopt"] = "application_name=rowpath gssencmode=disable" + File("sslrootcert", "tls_ca")
                             + File("sslcert", "tls_cert") + File("sslkey", "tls_key");
            foreach (var setting in DriverSettings(LibpqTimes)) words["pqopt"] += " " + setting.Key + "=" + setting.Value;
            if (Options.Get("startup", "") != "plain")
                words["pqopt"] += " options='-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=postgres'";
        }

        /// <summary>A file's name as libpq's connection strings have it.</summary>
        string File(string word, string option)
        {
            string name = Options.Get(option, "");
            return name == "" ? "" : " " + word + "='" + name.Replace("\\", "\\\\").Replace("'", "\\'") + "'";
        }

        protected override Getter Getter(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Interval: return Rowpath.Getter.FromString(PostgresqlText.Interval);
                case LogicalType.Array: return Rowpath.Getter.FromString(Elements(column.Element.Type));
                default: return base.Getter(column);
            }
        }

        static Func<DbDataReader, int, Elements> Elements(LogicalType element)
        {
            switch (element)
            {
                case LogicalType.Integer: return PostgresqlText.Integers;
                case LogicalType.Float32:
                case LogicalType.Float64: return PostgresqlText.Floats;
                case LogicalType.Binary: return PostgresqlText.Binaries;
                case LogicalType.Interval: return PostgresqlText.Intervals;
                default: return PostgresqlText.Texts;
            }
        }

        public override string Literal(Column column, object value)
        {
            switch (column.Type)
            {
                case LogicalType.Float32:
                case LogicalType.Float64: return Literals.Quoted(Literals.Plain(value));
                case LogicalType.Decimal:
                    string plain = Literals.Plain(value);
                    return char.IsDigit(plain[plain.Length - 1]) ? plain : Literals.Quoted(plain); // 'nan'
                case LogicalType.Binary: return "'\\x" + Literals.Hex(value) + "'::bytea";
                case LogicalType.Date: return Literals.Quoted(Literals.Date(value));
                default: return base.Literal(column, value);
            }
        }

        /// <summary>Names and sizes by the driver, which makes some up where there are none; types by the
        /// server.</summary>
        public override IEnumerable<DescribedColumn> Describe(string sql)
        {
            List<Declaration> declared = Description.Declared(this, sql);
            return declared.Zip(PostgresqlType.Of(this, sql, declared.Count), (column, type) =>
            {
                bool madeUp = column.Precision == MadeUpDigits && column.Scale == MadeUpScale;
                return Description.Column(column.Name, type.Type, type.Bits, type.Name,
                    column.Size == MadeUpLength ? 0 : column.Size, madeUp ? 0 : column.Precision, column.Scale,
                    type.Fields);
            });
        }

        public override int? ServerPid() => int.Parse(Ask("SELECT pg_backend_pid()"));

        /// <summary>The driver logs each disconnect in a file of /tmp, whatever its options are.</summary>
        public override void Close()
        {
            base.Close();
            string own = "psqlodbc_*" + Environment.UserName + Process.GetCurrentProcess().Id + ".log";
            foreach (string file in Directory.GetFiles("/tmp", own)) System.IO.File.Delete(file);
        }

        public override void Facts(Facts facts)
        {
            base.Facts(facts);
            facts.Build = Ask("SELECT version()");
            AddSettings(facts, "SHOW {0}", "synchronous_commit", "fsync", "TimeZone", "client_encoding");
            const string own = " FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
            // A role that the session has set may not see its own row there.
            facts.Settings["tls"] =
                Ask("SELECT coalesce(max(CASE WHEN ssl THEN 'on' ELSE 'off' END), 'unknown')" + own);
        }
    }
}
