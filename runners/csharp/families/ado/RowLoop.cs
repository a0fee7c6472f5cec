using System;
using System.Data.Common;
using System.Reflection;
using System.Reflection.Emit;

namespace Rowpath.Ado
{
    /// <summary>Takes all rows of a reader. One method is generated for the shape of its rows, so that nothing is
    /// decided per value: <c>(IsDBNull(i) ? 1 : Touch.Integer(GetInt32(i))) + …</c>. A row in which a getter
    /// refuses a value, and every row within <c>verify</c>, is taken value by value.</summary>
    public sealed class RowLoop
    {
        internal readonly Getter[] Getters;
        readonly Column[] columns;
        readonly Type reader;
        Func<DbDataReader, long> touch;
        readonly object[] values;

        /// <summary>The loop over these columns of a reader of that class, each taken by the getter of its position.
        /// Only columns that may hold NULL are asked whether they do.</summary>
        public RowLoop(Type reader, Column[] columns, Getter[] getters)
        {
            this.reader = reader;
            this.columns = columns;
            Getters = getters;
            values = new object[columns.Length];
            touch = Made(reader, columns, getters);
        }

        /// <summary>Takes every value of every row that is left, encoded too within <c>verify</c>.</summary>
        public void Take(DbDataReader rows, SampleCounters counters)
        {
            Encoder encoder = counters.Encoder;
            long taken = 0, sum = 0;
            while (rows.Read())
            {
                sum = unchecked(sum + (encoder == null ? Touched(rows) : Encoded(rows, encoder)));
                if (taken++ == 0) counters.FirstRow();
            }
            counters.Rows += taken;
            counters.Touch = unchecked(counters.Touch + sum);
        }

        /// <summary>From now on the column is taken by its getter's other one.</summary>
        internal void TakeAsText(int column)
        {
            Getters[column] = Getters[column].Textual;
            touch = Made(reader, columns, Getters);
        }

        long Touched(DbDataReader rows)
        {
            try
            {
                return touch(rows);
            }
            catch (Exception)
            {
                return OneByOne(rows);
            }
        }

        long Encoded(DbDataReader rows, Encoder encoder)
        {
            if (rows.FieldCount != columns.Length)
                throw new Failure("verify", "", rows.FieldCount + " columns where " + columns.Length + " are declared");
            long sum = OneByOne(rows);
            for (int at = 0; at < columns.Length; at++) Getters[at].See(rows, at);
            encoder.Row(values);
            return sum;
        }

        long OneByOne(DbDataReader rows)
        {
            long sum = 0;
            for (int at = 0; at < columns.Length; at++)
            {
                object value = Getters[at].Take(rows, at, columns[at].Nullable);
                values[at] = NearestForm.Of(columns[at], value);
                sum = unchecked(sum + Touch.Of(columns[at], values[at]));
            }
            return sum;
        }

        static Func<DbDataReader, long> Made(Type reader, Column[] columns, Getter[] getters)
        {
            var method = new DynamicMethod(
                "row", typeof(long), new[] { typeof(DbDataReader) }, typeof(RowLoop).Module, true);
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
                    code.Emit(OpCodes.Ldc_I8, 1L);
                    code.Emit(OpCodes.Br, taken);
                    code.MarkLabel(filled);
                }
                code.Emit(OpCodes.Ldloc, rows);
                code.Emit(OpCodes.Ldc_I4, at);
                MethodInfo getter = getters[at].Method;
                code.Emit(getter.IsStatic ? OpCodes.Call : OpCodes.Callvirt, getter);
                MethodInfo taker = NaturalTypes.Taker(columns[at], getter.ReturnType);
                Type given = taker.GetParameters()[0].ParameterType;
                if (given == typeof(long)) code.Emit(OpCodes.Conv_I8);
                if (given == typeof(double)) code.Emit(OpCodes.Conv_R8);
                code.Emit(OpCodes.Call, taker);
                code.MarkLabel(taken);
                code.Emit(OpCodes.Ldloc, sum);
                code.Emit(OpCodes.Add);
                code.Emit(OpCodes.Stloc, sum);
            }
            code.Emit(OpCodes.Ldloc, sum);
            code.Emit(OpCodes.Ret);
            return (Func<DbDataReader, long>)method.CreateDelegate(typeof(Func<DbDataReader, long>));
        }
    }
}
