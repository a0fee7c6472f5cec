using System.Collections.Generic;
using System.Linq;

namespace Rowpath
{
    /// <summary>A column of a query's result, as the reply to <c>describe</c> has it.</summary>
    public sealed class DescribedColumn
    {
        readonly Column column;
        readonly string engineType;

        /// <summary><c>engineType</c>: the engine's own name of the type; of the column length, precision and scale are
        /// 0 where they are not known.</summary>
        public DescribedColumn(Column column, string engineType)
        {
            this.column = column;
            this.engineType = engineType;
        }

        internal Dictionary<string, object> Reply()
        {
            Dictionary<string, object> reply = Declaration(column);
            reply["engine_type"] = engineType;
            return reply;
        }

        /// <summary>As <c>prepare</c> has it: a field that is absent has its default.</summary>
        static Dictionary<string, object> Declaration(Column column)
        {
            var fields = new Dictionary<string, object> { { "name", column.Name }, { "type", column.TypeName } };
            if (column.Length != 0) fields["length"] = column.Length;
            if (column.Precision != 0) fields["precision"] = column.Precision;
            if (column.Scale != 0) fields["scale"] = column.Scale;
            if (column.Bits != 32) fields["bits"] = column.Bits;
            if (column.Nullable) fields["nullable"] = true;
            if (column.Fields.Length > 0) fields["fields"] = column.Fields.Select(Declaration).ToArray();
            return fields;
        }
    }
}
