namespace Rowpath
{
    /// <summary>One phase, ready to be run.</summary>
    public abstract class Operation
    {
        /// <summary>Runs one operation and adds what it delivered to the counters. <c>row</c> is the parameter row; 0
        /// when the phase has no parameters.</summary>
        public abstract void Run(int row, SampleCounters counters);

        /// <summary>How each column of the result is taken.</summary>
        public virtual Getter[] Getters => new Getter[0];

        /// <summary>Frees what the phase holds on the connection.</summary>
        public virtual void Close()
        {
        }
    }
}
