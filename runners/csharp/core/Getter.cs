using System;
using System.Data.Common;
using System.Reflection;

namespace Rowpath
{
    /// <summary>How one column is taken from a reader: a method of the reader, or a static method over it.</summary>
    public sealed class Getter
    {
        internal readonly MethodInfo Method;

        /// <summary>The test for NULL; null for the reader's own IsDBNull.</summary>
        internal readonly MethodInfo NullTest;

        readonly bool boxed;

        Getter(MethodInfo method, MethodInfo nullTest, bool boxed, bool fromText)
        {
            Method = method;
            NullTest = nullTest;
            this.boxed = boxed;
            FromText = fromText && method.ReturnType != typeof(string);
            Delivers = fromText ? "String" : method.ReturnType.Name;
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
            return new Getter(function.Method, isNull == null ? null : isNull.Method, false, true);
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
