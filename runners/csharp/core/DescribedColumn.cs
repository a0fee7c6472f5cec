using System.Collections.Generic;

namespace Rowpath
{
    /// <summary>A column of a query's result, as the reply to <c>describe</c> has it.</summary>
    public sealed class DescribedColumn
    {
        readonly Column column;
        readonly string engineType;
        readonly int length;
        readonly int scale;

        /// <summary><c>engineType</c>: the engine's own name of the type; <c>length</c> and <c>scale</c> are 0 where
        /// they are not known, like the column's precision.</summary>
        public DescribedColumn(Column column, string engineType, int length = 0, int scale = 0)
        {
            this.column = column;
            this.engineType = engineType;
            this.length = length;
            this.scale = scale;
        }

        internal Dictionary<string, object> Fields()
        {
            return new Dictionary<string, object>
            {
                { "name", column.Name }, { "type", column.Type.ToString().ToLowerInvariant() }, { "length", length },
                { "precision", column.Precision }, { "scale", scale }, { "bits", column.Bits },
                { "nullable", column.Nullable }, { "engine_type", engineType }
            };
        }
    }
}
