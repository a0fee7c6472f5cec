using System;
using System.Collections.Generic;
using System.Data.Common;
using System.Data.Odbc;
using System.IO;
using System.Linq;
using Rowpath.Ado;

namespace Rowpath.Odbc
{
    /// <summary>System.Data.Odbc without a data source: the driver is named by its file, which ROWPATH_ODBC_DRIVER
    /// holds. What differs between drivers stands in an adapter of each.</summary>
    public abstract class Adapter : Ado.Adapter
    {
        const string Special = ";{}[](),?*=!@ ";

        /// <summary>What the driver's connection string has beside DRIVER.</summary>
        protected abstract void Login(Dictionary<string, string> words);

        /// <summary>The words of a server's address and login, the same for most drivers.</summary>
        protected void AddServer(Dictionary<string, string> words)
        {
            words["SERVER"] = Options.Get("host", "127.0.0.1");
            words["PORT"] = Options.Need("port");
            words["DATABASE"] = Options.Need("database");
            words["UID"] = Options.Need("user");
            words["PWD"] = Options.Get("password", "");
        }

        /// <summary>The option <c>driver_settings</c>, its names among those that are known: the driver ignores any
        /// other.</summary>
        protected IEnumerable<KeyValuePair<string, string>> DriverSettings(params string[] known)
        {
            foreach (string line in Options.Get("driver_settings", "").Split('\n').Where(line => line != ""))
            {
                string[] setting = line.Split(new[] { '=' }, 2);
                if (setting.Length < 2 || !known.Contains(setting[0]))
                    throw new Failure("unsupported", "", "unknown setting '" + setting[0] + "'");
                yield return new KeyValuePair<string, string>(setting[0], setting[1]);
            }
        }

        protected override Type Reader => typeof(OdbcDataReader);

        public override DbConnection Connect()
        {
            var words = new Dictionary<string, string> { { "DRIVER", DriverFile } };
            Login(words);
            string login = string.Join(";", words.Select(word => word.Key + "=" + Braced(word.Value)));
            var connection = new OdbcConnection(login);
            connection.Open();
            return connection;
        }

        /// <summary>Typed getters, but <c>GetValue</c> where NULL is possible: IsDBNull takes the value and keeps it as
        /// the driver's type, which the typed getter of another then refuses.</summary>
        protected override Getter Getter(Column column) => Usual(column).Or(Textual(column));

        /// <summary>By its text, for a column in which a getter has refused a value: OdbcDataReader hands a value over
        /// only once. Null where the usual getter is one of text, or another than the driver's own.</summary>
        static Getter Textual(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Integer:
                    return column.WideInteger
                        ? Rowpath.Getter.FromString(Values.DecimalOfText, HasNoText)
                        : Rowpath.Getter.FromString(Values.LongOfText, HasNoText);
                case LogicalType.Decimal:
                    return column.Wide ? null : Rowpath.Getter.FromString(Values.DecimalOfText, HasNoText);
                case LogicalType.Date: return Rowpath.Getter.FromString(Values.DateOfText, HasNoText);
                case LogicalType.Time: return Rowpath.Getter.FromString(Values.TimeOfText, HasNoText);
                case LogicalType.Timestamp: return Rowpath.Getter.FromString(Values.TimestampOfText, HasNoText);
                case LogicalType.TimestampTz: return Rowpath.Getter.FromString(Values.InstantOfText, HasNoText);
                default: return null;
            }
        }

        Getter Usual(Column column)
        {
            if (!column.Nullable) return base.Getter(column);
            switch (column.Type)
            {
                case LogicalType.Integer:
                    if (column.WideInteger) return Rowpath.Getter.FromValue(Values.Decimal);
                    return column.Bits > 32 ? LongInteger() : Rowpath.Getter.FromValue(Values.Integer);
                case LogicalType.Decimal:
                    return column.Wide
                        ? Rowpath.Getter.FromString(Values.WideDecimalOfText, HasNoText)
                        : Rowpath.Getter.FromValue(Values.Decimal);
                case LogicalType.Float32: return Rowpath.Getter.FromValue(Values.Float32);
                case LogicalType.Float64: return Rowpath.Getter.FromValue(Values.Float64);
                case LogicalType.Boolean: return Rowpath.Getter.FromValue(Values.Truth);
                case LogicalType.Date:
                case LogicalType.Timestamp:
                case LogicalType.TimestampTz: return Rowpath.Getter.FromValue(Values.Moment);
                default: return base.Getter(column);
            }
        }

        /// <summary>How an integer of 64 bits that may be NULL is taken.</summary>
        protected virtual Getter LongInteger() => Rowpath.Getter.FromValue(Values.Integer);

        /// <summary>NULL by GetString, which then fails: IsDBNull would keep the value as the driver's type, a number
        /// cut to what that holds.</summary>
        protected static bool HasNoText(DbDataReader rows, int at)
        {
            try
            {
                rows.GetString(at);
                return false;
            }
            catch (InvalidCastException)
            {
                return true;
            }
        }

        protected override DbParameter Parameter(Column column) =>
            new OdbcParameter("", Converter(column) == null ? SqlType(column) : OdbcType.NVarChar);

        /// <summary>The ODBC type that natural values are bound as.</summary>
        static OdbcType SqlType(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Integer:
                    return column.Bits > 32 ? OdbcType.BigInt : column.Bits > 16 ? OdbcType.Int : OdbcType.SmallInt;
                case LogicalType.Decimal: return OdbcType.Numeric;
                case LogicalType.Float32: return OdbcType.Real;
                case LogicalType.Float64: return OdbcType.Double;
                case LogicalType.Boolean: return OdbcType.Bit;
                case LogicalType.Char: return OdbcType.NChar;
                case LogicalType.Binary: return OdbcType.VarBinary;
                case LogicalType.Date: return OdbcType.Date;
                case LogicalType.Uuid: return OdbcType.UniqueIdentifier;
                default: return OdbcType.NVarChar;
            }
        }

        /// <summary>Text, where System.Data.Odbc loses digits: of times it sends whole milliseconds.</summary>
        protected override Func<object, object> Converter(Column column)
        {
            switch (column.Type)
            {
                case LogicalType.Time:
                case LogicalType.Timestamp:
                case LogicalType.TimestampTz: return Literals.Plain;
                default: return column.Wide || column.WideInteger ? Literals.Plain : (Func<object, object>)null;
            }
        }

        public override string Code(DbException error)
        {
            var odbc = (OdbcException)error;
            return odbc.Errors.Count == 0 ? "" : odbc.Errors[0].SQLState;
        }

        public override void Facts(Facts facts)
        {
            base.Facts(facts);
            var connection = (OdbcConnection)Connection;
            facts.DriverVersion = "System.Data.Odbc " + typeof(OdbcConnection).Assembly.GetName().Version
                                  + " over " + connection.Driver;
            facts.Libraries["ODBC driver"] = DriverFile;
            facts.Libraries["driver manager"] = Loaded("libodbc.so");
        }

        static string DriverFile => Environment.GetEnvironmentVariable("ROWPATH_ODBC_DRIVER");

        static string Braced(string value) =>
            value.IndexOfAny(Special.ToCharArray()) < 0 ? value : "{" + value.Replace("}", "}}") + "}";

        static string Loaded(string library)
        {
            string line = File.ReadLines("/proc/self/maps").FirstOrDefault(each => each.Contains("/" + library));
            return line == null ? "" : line.Substring(line.IndexOf('/'));
        }
    }
}
