using System;
using System.IO;
using System.IO.MemoryMappedFiles;

namespace Rowpath
{
    /// <summary>Counters shared with the controller: memory in which each client counts its operations (PROTOCOL.md,
    /// <c>client-groups</c>). Nobody uses a slot of it any more once it is disposed of.</summary>
    sealed unsafe class SharedCounters : IDisposable
    {
        const int ControlBytes = 16;

        readonly MemoryMappedFile file;
        readonly MemoryMappedViewAccessor view;
        readonly byte* memory;

        internal SharedCounters(string name)
        {
            file = MemoryMappedFile.CreateFromFile(name, FileMode.Open);
            view = file.CreateViewAccessor();
            view.SafeMemoryMappedViewHandle.AcquirePointer(ref memory);
        }

        /// <summary>One client's slot; <c>acknowledged</c> is the offset within it of <c>rows</c> counts, or
        /// 0.</summary>
        internal Slot Slot(long control, long slot, long slotBytes, long acknowledged, int rows)
        {
            long needed = acknowledged == 0 ? Rowpath.Slot.Bytes : acknowledged + 8L * rows;
            if (slotBytes < needed)
                throw new Failure("internal", "", "a slot of " + slotBytes + " bytes, " + needed + " needed");
            return new Slot(At(control, ControlBytes), At(slot, needed), acknowledged, rows);
        }

        byte* At(long from, long bytes)
        {
            if (from < 0 || from + bytes > view.Capacity)
                throw new Failure("internal", "",
                    "the shared counters end at " + view.Capacity + ", not " + (from + bytes));
            return memory + from;
        }

        public void Dispose()
        {
            view.SafeMemoryMappedViewHandle.ReleasePointer();
            view.Dispose();
            file.Dispose();
        }
    }
}
