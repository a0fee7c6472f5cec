using System;

namespace Rowpath
{
    /// <summary>XXH64 with seed 0, by the published algorithm description.</summary>
    public static class XxHash64
    {
        const ulong P1 = 0x9E3779B185EBCA87;
        const ulong P2 = 0xC2B2AE3D27D4EB4F;
        const ulong P3 = 0x165667B19E3779F9;
        const ulong P4 = 0x85EBCA77C2B2AE63;
        const ulong P5 = 0x27D4EB2F165667C5;

        /// <summary>The hash of the bytes <c>[from, end)</c>.</summary>
        public static ulong Hash(byte[] bytes, int from, int end)
        {
            unchecked
            {
                int at = from, length = end - from;
                ulong hash = P5;
                if (length >= 32)
                {
                    ulong a = P1 + P2, b = P2, c = 0, d = 0 - P1;
                    for (; at <= end - 32; at += 32)
                    {
                        a = Round(a, BitConverter.ToUInt64(bytes, at));
                        b = Round(b, BitConverter.ToUInt64(bytes, at + 8));
                        c = Round(c, BitConverter.ToUInt64(bytes, at + 16));
                        d = Round(d, BitConverter.ToUInt64(bytes, at + 24));
                    }
                    hash = Left(a, 1) + Left(b, 7) + Left(c, 12) + Left(d, 18);
                    hash = Merge(Merge(Merge(Merge(hash, a), b), c), d);
                }
                hash += (ulong)length;
                for (; at <= end - 8; at += 8)
                    hash = Left(hash ^ Round(0, BitConverter.ToUInt64(bytes, at)), 27) * P1 + P4;
                if (at <= end - 4)
                {
                    hash = Left(hash ^ BitConverter.ToUInt32(bytes, at) * P1, 23) * P2 + P3;
                    at += 4;
                }
                for (; at < end; at++) hash = Left(hash ^ bytes[at] * P5, 11) * P1;
                hash = (hash ^ hash >> 33) * P2;
                hash = (hash ^ hash >> 29) * P3;
                return hash ^ hash >> 32;
            }
        }

        static ulong Round(ulong accumulator, ulong lane) => unchecked(Left(accumulator + lane * P2, 31) * P1);

        static ulong Merge(ulong hash, ulong accumulator) => unchecked((hash ^ Round(0, accumulator)) * P1 + P4);

        static ulong Left(ulong value, int bits) => value << bits | value >> 64 - bits;
    }
}
