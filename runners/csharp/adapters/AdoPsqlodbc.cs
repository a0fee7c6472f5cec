using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using Rowpath.Ado;
using Rowpath.Postgresql;

namespace Rowpath.Adapters
{
    /// <summary>System.Data.Odbc over psqlodbc, the Unicode driver; its options:
    /// https://odbc.postgresql.org/docs/config-opt.html.</summary>
    public sealed class AdoPsqlodbc : Odbc.Adapter
    {
        /// <summary>The driver's own defaults, but: no savepoint around each statement of a transaction, booleans as
        /// such.</summary>
        protected override void Login(Dictionary<string, string> words)
        {
            AddServer(words);
            string tls = Options.Get("tls", "off");
            if (tls != "default") words["SSLmode"] = tls == "on" ? "require" : "disable";
            int fetched = Options.Count("result", "cursor");
            if (fetched > 0)
            {
                words["UseDeclareFetch"] = "1";
                words["Fetch"] = fetched.ToString();
            }
            words["Protocol"] = "7.4-1";
            words["BoolsAsChar"] = "0";
            words["pqopt"] = "application_name=rowpath gssencmode=disable options='-c TimeZone=UTC -c DateStyle=ISO'";
        }

        protected override Getter Getter(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Interval: return Rowpath.Getter.FromString(PostgresqlText.Interval);
                case LogicalType.Array: return Rowpath.Getter.FromString(PostgresqlText.Integers);
                default: return base.Getter(column);
            }
        }

        public override string Literal(Column column, object value)
        {
            switch (column.Type)
            {
                case LogicalType.Float32:
                case LogicalType.Float64: return Literals.Quoted(Literals.Plain(value));
                case LogicalType.Binary: return "'\\x" + Literals.Hex(value) + "'::bytea";
                case LogicalType.Date: return Literals.Quoted(Literals.Date(value));
                default: return base.Literal(column, value);
            }
        }

        public override int? ServerPid() => int.Parse(Ask("SELECT pg_backend_pid()"));

        /// <summary>The driver logs each disconnect in a file of /tmp, whatever its options are.</summary>
        public override void Close()
        {
            base.Close();
            string own = "psqlodbc_*" + Environment.UserName + Process.GetCurrentProcess().Id + ".log";
            foreach (string file in Directory.GetFiles("/tmp", own)) File.Delete(file);
        }

        public override void Facts(Facts facts)
        {
            base.Facts(facts);
            facts.Build = Ask("SELECT version()");
            AddSettings(facts, "SHOW {0}", "synchronous_commit", "fsync", "TimeZone", "client_encoding");
            const string own = " FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
            facts.Settings["tls"] = Ask("SELECT CASE WHEN ssl THEN 'on' ELSE 'off' END" + own);
        }
    }
}
