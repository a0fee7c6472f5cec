using System;
using System.Data.Common;
using System.Reflection;
using System.Reflection.Emit;

namespace Rowpath.Ado
{
    /// <summary>Takes all rows of a reader. One method is generated for the shape of its rows, so that nothing is
    /// decided per value: <c>(IsDBNull(i) ? 1 : Touch.Integer(GetInt32(i))) + …</c>, and the same with the
    /// encoder.</summary>
    public sealed class RowLoop
    {
        internal readonly Getter[] Getters;
        readonly Column[] columns;
        readonly Func<DbDataReader, long> touch;
        readonly Func<DbDataReader, Encoder, long> digest;

        /// <summary>The loop over these columns of a reader of that class, each taken by the getter of its position.
        /// Only columns that may hold NULL are asked whether they do.</summary>
        public RowLoop(Type reader, Column[] columns, Getter[] getters)
        {
            this.columns = columns;
            Getters = getters;
            touch = (Func<DbDataReader, long>)Made(reader, columns, getters, false)
                .CreateDelegate(typeof(Func<DbDataReader, long>));
            digest = (Func<DbDataReader, Encoder, long>)Made(reader, columns, getters, true)
                .CreateDelegate(typeof(Func<DbDataReader, Encoder, long>));
        }

        /// <summary>Takes every value of every row that is left, encoded too within <c>verify</c>.</summary>
        public void Take(DbDataReader rows, SampleCounters counters)
        {
            Encoder encoder = counters.Encoder;
            long taken = 0, sum = 0;
            while (rows.Read())
            {
                sum = unchecked(sum + (encoder == null ? touch(rows) : Encoded(rows, encoder)));
                if (taken++ == 0) counters.FirstRow();
            }
            counters.Rows += taken;
            counters.Touch = unchecked(counters.Touch + sum);
        }

        long Encoded(DbDataReader rows, Encoder encoder)
        {
            if (rows.FieldCount != columns.Length)
                throw new Failure("verify", "", rows.FieldCount + " columns where " + columns.Length + " are declared");
            try
            {
                long sum = digest(rows, encoder);
                for (int at = 0; at < columns.Length; at++) Getters[at].See(rows, at);
                encoder.EndRow();
                return sum;
            }
            catch (Exception misfit)
                when (!(misfit is Failure || (misfit is DbException && !columns[encoder.At].MayBeBeyond)))
            {
                Column column = columns[encoder.At];
                if (!column.Nullable && rows.IsDBNull(encoder.At))
                    throw new Failure("verify", "", "column " + column.Name + ": NULL where none is allowed");
                // NaN, infinity, 24:00, the year 12000: legal in the engine, without a value of C#'s.
                throw new Failure(column.MayBeBeyond ? "unsupported" : "verify", "",
                    "column " + column.Name + " (" + column.Type + "): "
                    + (misfit.Message == "" ? "no value" : misfit.Message));
            }
        }

        static DynamicMethod Made(Type reader, Column[] columns, Getter[] getters, bool encoded)
        {
            Type[] takes = encoded ? new[] { typeof(DbDataReader), typeof(Encoder) } : new[] { typeof(DbDataReader) };
            var method = new DynamicMethod("row", typeof(long), takes, typeof(RowLoop).Module, true);
            ILGenerator code = method.GetILGenerator();
            LocalBuilder rows = code.DeclareLocal(reader), sum = code.DeclareLocal(typeof(long));
            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Castclass, reader);
            code.Emit(OpCodes.Stloc, rows);
            for (int at = 0; at < columns.Length; at++)
            {
                Label filled = code.DefineLabel(), taken = code.DefineLabel();
                if (columns[at].Nullable)
                {
                    code.Emit(OpCodes.Ldloc, rows);
                    code.Emit(OpCodes.Ldc_I4, at);
                    MethodInfo isNull = getters[at].NullTest ?? reader.GetMethod("IsDBNull");
                    code.Emit(isNull.IsStatic ? OpCodes.Call : OpCodes.Callvirt, isNull);
                    code.Emit(OpCodes.Brfalse, filled);
                    if (encoded)
                    {
                        code.Emit(OpCodes.Ldarg_1);
                        code.Emit(OpCodes.Callvirt, typeof(Encoder).GetMethod("Null"));
                    }
                    else
                    {
                        code.Emit(OpCodes.Ldc_I8, 1L);
                    }
                    code.Emit(OpCodes.Br, taken);
                    code.MarkLabel(filled);
                }
                if (encoded) code.Emit(OpCodes.Ldarg_1);
                code.Emit(OpCodes.Ldloc, rows);
                code.Emit(OpCodes.Ldc_I4, at);
                MethodInfo getter = getters[at].Method;
                code.Emit(getter.IsStatic ? OpCodes.Call : OpCodes.Callvirt, getter);
                Type sink = encoded ? typeof(Encoder) : typeof(Touch);
                MethodInfo taker = NaturalTypes.Taker(sink, columns[at], getter.ReturnType);
                Type given = taker.GetParameters()[0].ParameterType;
                if (given == typeof(long)) code.Emit(OpCodes.Conv_I8);
                if (given == typeof(double)) code.Emit(OpCodes.Conv_R8);
                code.Emit(encoded ? OpCodes.Callvirt : OpCodes.Call, taker);
                code.MarkLabel(taken);
                code.Emit(OpCodes.Ldloc, sum);
                code.Emit(OpCodes.Add);
                code.Emit(OpCodes.Stloc, sum);
            }
            code.Emit(OpCodes.Ldloc, sum);
            code.Emit(OpCodes.Ret);
            return method;
        }
    }
}
