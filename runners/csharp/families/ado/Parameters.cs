using System;
using System.Data.Common;

namespace Rowpath.Ado
{
    /// <summary>A statement's parameters: each row's values set one by one.</summary>
    public sealed class Parameters
    {
        readonly DbParameter[] parameters;
        readonly Func<object, object>[] converters;

        /// <summary>Adds to the command a parameter per column; null among the converters for values taken as they
        /// are.</summary>
        internal Parameters(DbCommand command, Column[] columns, Func<Column, DbParameter> parameter,
            Func<object, object>[] converters)
        {
            this.converters = converters;
            parameters = Array.ConvertAll(columns, column => parameter(column));
            command.Parameters.AddRange(parameters);
        }

        internal void Set(object[][] rows, int row)
        {
            if (parameters.Length > 0) Set(rows[row]);
        }

        internal void Set(object[] values)
        {
            for (int at = 0; at < parameters.Length; at++)
            {
                object value = values[at];
                if (value == null) parameters[at].Value = DBNull.Value;
                else parameters[at].Value = converters[at] == null ? value : converters[at](value);
            }
        }
    }
}
