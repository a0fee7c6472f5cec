using System;
using System.Collections.Generic;
using System.Data;
using System.Data.Common;
using System.Data.Odbc;
using System.Linq;

namespace Rowpath.Odbc
{
    /// <summary>A column of a result as its driver declares it; sizes that it does not know are 0 or made up.</summary>
    public sealed class Declaration
    {
        public readonly string Name;
        public readonly string TypeName;
        public readonly OdbcType Type;
        public readonly int Size;
        public readonly int Precision;
        public readonly int Scale;

        internal Declaration(DataRow row, string typeName)
        {
            Name = (string)row["ColumnName"];
            TypeName = typeName;
            Type = (OdbcType)row["ProviderType"];
            Size = (int)row["ColumnSize"];
            Precision = Convert.ToInt32(row["NumericPrecision"]);
            Scale = (sbyte)Convert.ToInt32(row["NumericScale"]); // System.Data.Odbc has cut it to a byte
        }
    }

    /// <summary>What a query's columns are, as its driver declares them, in the codec's types. The query is prepared,
    /// not executed.</summary>
    static class Description
    {
        /// <summary>The declarations of the query's columns.</summary>
        internal static List<Declaration> Declared(Adapter adapter, string sql)
        {
            using (DbCommand command = adapter.Command(sql))
            using (DbDataReader rows = command.ExecuteReader(CommandBehavior.SchemaOnly))
                return rows.GetSchemaTable().Rows.Cast<DataRow>()
                    .Select((row, at) => new Declaration(row, rows.GetDataTypeName(at))).ToList();
        }

        /// <summary>The codec's type of ODBC's; opaque where it has none.</summary>
        internal static LogicalType Type(OdbcType type)
        {
            switch (type)
            {
                case OdbcType.TinyInt:
                case OdbcType.SmallInt:
                case OdbcType.Int:
                case OdbcType.BigInt: return LogicalType.Integer;
                case OdbcType.Decimal:
                case OdbcType.Numeric: return LogicalType.Decimal;
                case OdbcType.Bit: return LogicalType.Boolean;
                case OdbcType.Real: return LogicalType.Float32;
                case OdbcType.Double: return LogicalType.Float64;
                case OdbcType.Char:
                case OdbcType.NChar: return LogicalType.Char;
                case OdbcType.VarChar:
                case OdbcType.NVarChar: return LogicalType.Varchar;
                case OdbcType.Text:
                case OdbcType.NText: return LogicalType.Text;
                case OdbcType.Binary:
                case OdbcType.VarBinary:
                case OdbcType.Image: return LogicalType.Binary;
                case OdbcType.Date: return LogicalType.Date;
                case OdbcType.Time: return LogicalType.Time;
                case OdbcType.DateTime: return LogicalType.Timestamp;
                case OdbcType.UniqueIdentifier: return LogicalType.Uuid;
                default: return LogicalType.Opaque;
            }
        }

        /// <summary>How wide an integer of ODBC's type is.</summary>
        internal static int Bits(OdbcType type) =>
            type == OdbcType.BigInt ? 64 : type == OdbcType.SmallInt || type == OdbcType.TinyInt ? 16 : 32;

        /// <summary>The column as the reply has it: <c>length</c> counts for texts and bytes, precision and scale for
        /// decimals.</summary>
        internal static DescribedColumn Column(string name, LogicalType type, int bits, string engineType, int length,
            int precision, int scale, params Column[] fields)
        {
            bool sized = type == LogicalType.Char || type == LogicalType.Varchar || type == LogicalType.Binary
                         || type == LogicalType.Bits;
            if (!sized || length < 0) length = 0;
            if (type != LogicalType.Decimal || precision == 0) precision = scale = 0;
            precision = scale < 0 ? precision - scale : Math.Max(precision, scale);
            // Nullable, whatever the driver says: it reports what the table declares, behind an outer join too.
            var column = new Column(name, type, precision, bits, true, length, Math.Max(scale, 0), fields);
            return new DescribedColumn(column, engineType);
        }
    }
}
