using System;
using System.Collections.Generic;
using System.Data.Common;
using System.Data.Odbc;
using System.Linq;
using Rowpath.Ado;
using Rowpath.Odbc;

namespace Rowpath.Adapters
{
    /// <summary>System.Data.Odbc over MariaDB Connector/ODBC; its options:
    /// https://mariadb.com/kb/en/about-mariadb-connector-odbc/.</summary>
    public sealed class AdoOdbcMariadb : Odbc.Adapter
    {
        const string Compressed = "2048"; // the bit of OPTION for the protocol with compression

        protected override void Login(Dictionary<string, string> words)
        {
            AddServer(words);
            words["CHARSET"] = "utf8mb4";
            if (Compresses) words["OPTION"] = Compressed;
            words["NO_PROMPT"] = "1";
            foreach (var setting in DriverSettings("CONN_TIMEOUT", "READ_TIMEOUT", "WRITE_TIMEOUT"))
                words[setting.Key] = setting.Value;
        }

        bool Compresses => Options.Get("compression", "") == "zlib";

        public override Operation Prepare(Phase phase, object[][] rows)
        {
            if (phase.Kind == "query" && Options.Get("statement", "") == "text" && Prepared() != Prepared())
                throw new Failure("unsupported", "",
                    "MariaDB Connector/ODBC prepares what has a result, given as text too");
            return base.Prepare(phase, rows);
        }

        /// <summary>How many statements were prepared on the connection; asking is one that has a result.</summary>
        string Prepared() => Shown("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'").Single().Value;

        protected override Getter Getter(Column column)
        {
            switch (column.Type)
            {
                // IsDBNull must know the type, and the driver has none for MySQL's JSON.
                case LogicalType.Json: return Rowpath.Getter.FromString(Values.Text, HasNoText);
                case LogicalType.Uuid: return Rowpath.Getter.FromString(UuidOfText);
                default: return base.Getter(column);
            }
        }

        protected override Func<object, object> Converter(Column column) =>
            column.Type == LogicalType.Uuid ? Literals.Plain : base.Converter(column);

        static Guid UuidOfText(DbDataReader rows, int at) => Guid.Parse(rows.GetString(at));

        public override IEnumerable<DescribedColumn> Describe(string sql) =>
            Description.Declared(this, sql).Select(Described);

        /// <summary>Texts without their length, which the driver counts in bytes, as it does that of bits. It declares
        /// a BIGINT UNSIGNED as a decimal, without digits.</summary>
        DescribedColumn Described(Declaration declared)
        {
            LogicalType type = Description.Type(declared.Type);
            int bits = Description.Bits(declared.Type);
            switch (declared.TypeName)
            {
                case "null": type = LogicalType.Text; break;
                case "bit": type = LogicalType.Bits; break;
                case "geometry": type = LogicalType.Opaque; break;
                case "year": bits = 16; break;
                case "mediumint": bits = 32; break;
                case "bigint":
                    if (type != LogicalType.Decimal) break;
                    type = LogicalType.Integer;
                    bits = 128;
                    break;
            }
            if (type == LogicalType.Varchar) type = LogicalType.Text;
            int length = type == LogicalType.Binary ? declared.Size : 0;
            if (type == LogicalType.Bits) length = declared.Type == OdbcType.Bit ? 1 : 8 * declared.Size;
            return Description.Column(
                declared.Name, type, bits, declared.TypeName, length, declared.Precision, declared.Scale);
        }

        public override void Facts(Facts facts)
        {
            base.Facts(facts);
            facts.Build = Ask("SELECT CONCAT(@@version_comment, ' ', @@version_compile_machine)");
            const string wanted =
                "'tx_isolation', 'transaction_isolation', 'time_zone', 'character_set_client', 'sql_mode',"
                + " 'innodb_flush_log_at_trx_commit', 'sync_binlog'";
            foreach (var variable in Shown("SHOW VARIABLES WHERE Variable_name IN (" + wanted + ")"))
                facts.Settings[variable.Key] = variable.Value;
            bool ciphered = Shown("SHOW SESSION STATUS LIKE 'Ssl_cipher'").Any(one => one.Value != "");
            facts.Settings["tls"] = ciphered ? "on" : "off";
            if (!Compresses) return;
            bool compressed = Shown("SHOW SESSION STATUS LIKE 'Compression'").Any(one => one.Value == "ON");
            facts.Settings["compression"] = compressed ? "on" : "off";
        }

        Dictionary<string, string> Shown(string sql)
        {
            var shown = new Dictionary<string, string>();
            using (DbCommand command = Command(sql))
            using (DbDataReader rows = command.ExecuteReader())
                while (rows.Read()) shown[rows.GetString(0)] = rows.GetString(1);
            return shown;
        }
    }
}
