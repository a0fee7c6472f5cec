using System;
using System.Data.Common;
using System.Linq.Expressions;
using System.Reflection;

namespace Rowpath
{
    /// <summary>How one column is taken from a reader: a method of the reader, or a static method over it.</summary>
    public sealed class Getter
    {
        internal readonly MethodInfo Method;

        /// <summary>The test for NULL; null for the reader's own IsDBNull.</summary>
        internal readonly MethodInfo NullTest;

        // Further getters: GetValue may convert to what the column is declared as, and fail.
        static readonly Func<DbDataReader, int, object>[] TextFirst = { Text, Value, Long, Real };
        static readonly Func<DbDataReader, int, object>[] ValueFirst = { Value, Text, Long, Real };
        static readonly Func<DbDataReader, int, object>[] BytesFirst = { Bytes, Value, Text, Long, Real };

        readonly bool boxed;
        readonly Func<DbDataReader, int, bool> isNull;
        readonly Func<DbDataReader, int, object>[] others;
        Func<DbDataReader, int, object> take; // made when it is first needed

        Getter(MethodInfo method, Func<DbDataReader, int, bool> isNull, bool boxed, bool fromText)
        {
            Method = method;
            NullTest = isNull == null ? null : isNull.Method;
            this.isNull = isNull ?? ((rows, at) => rows.IsDBNull(at));
            this.boxed = boxed;
            others = fromText ? TextFirst : method.ReturnType == typeof(byte[]) ? BytesFirst : ValueFirst;
            FromText = fromText && method.ReturnType != typeof(string);
            Delivers = fromText ? "String" : method.ReturnType.Name;
        }

        static object Text(DbDataReader rows, int at) => rows.GetString(at);

        static object Value(DbDataReader rows, int at) => rows.GetValue(at);

        static object Long(DbDataReader rows, int at) => rows.GetInt64(at);

        static object Real(DbDataReader rows, int at) => rows.GetDouble(at);

        static object Bytes(DbDataReader rows, int at)
        {
            var bytes = new byte[rows.GetBytes(at, 0, null, 0, 0)];
            rows.GetBytes(at, 0, bytes, 0, bytes.Length);
            return bytes;
        }

        static Func<DbDataReader, int, object> Boxed(MethodInfo method)
        {
            ParameterExpression rows = Expression.Parameter(typeof(DbDataReader));
            ParameterExpression at = Expression.Parameter(typeof(int));
            Expression call = method.IsStatic
                ? Expression.Call(method, rows, at)
                : Expression.Call(Expression.Convert(rows, method.DeclaringType), method, at);
            Expression boxed = Expression.Convert(call, typeof(object));
            return Expression.Lambda<Func<DbDataReader, int, object>>(boxed, rows, at).Compile();
        }

        /// <summary>The value as it comes; where the getter refuses one, by another getter of the driver. Only an error
        /// of them all is thrown, in the first one's words; TakeAgain where the value is lost.</summary>
        internal object Take(DbDataReader rows, int at, bool nullable)
        {
            try
            {
                if (take == null) take = Boxed(Method);
                return nullable && isNull(rows, at) ? null : take(rows, at);
            }
            catch (Exception refused)
            {
                if (Textual != null) throw new TakeAgain(at);
                foreach (Func<DbDataReader, int, object> other in others)
                {
                    try
                    {
                        return other(rows, at);
                    }
                    catch (Exception)
                    {
                    }
                }
                if (refused is DbException) throw;
                throw new Failure("sql", refused.GetType().Name, refused.Message);
            }
        }

        /// <summary>How the column is taken once this getter has refused a value, where the driver hands a value over
        /// only once; null where other getters may be asked for the same value.</summary>
        internal Getter Textual { get; private set; }

        /// <summary>This getter, with that one behind it.</summary>
        public Getter Or(Getter textual)
        {
            Textual = textual;
            return this;
        }

        /// <summary>What the driver hands over.</summary>
        internal string Delivers { get; private set; }

        /// <summary>Whether that is text which is converted here.</summary>
        internal bool FromText { get; private set; }

        /// <summary>A typed getter of the reader: <c>GetInt32</c>.</summary>
        public static Getter Typed(Type reader, string method) =>
            new Getter(reader.GetMethod(method, new[] { typeof(int) }), null, false, false);

        /// <summary>A function over the text that the reader hands over; <c>isNull</c>: another test than the
        /// reader's own IsDBNull.</summary>
        public static Getter FromString<T>(
            Func<DbDataReader, int, T> function, Func<DbDataReader, int, bool> isNull = null)
        {
            return new Getter(function.Method, isNull, false, true);
        }

        /// <summary>A function over <c>GetValue</c>, whose type is the driver's choice and seen in
        /// <c>verify</c>.</summary>
        public static Getter FromValue<T>(Func<DbDataReader, int, T> function) =>
            new Getter(function.Method, null, true, false);

        /// <summary>Notes what the driver really hands over.</summary>
        internal void See(DbDataReader rows, int at)
        {
            if (!boxed) return;
            Delivers = rows.GetFieldType(at).Name;
            FromText = Delivers == "String" && Method.ReturnType != typeof(string);
        }
    }
}
