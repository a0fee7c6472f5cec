"""Rows as noise of the same size: each value becomes another that its type's readers take.

The same value becomes the same noise within one recording, by a key that is thrown away with it.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
import secrets
import string
import struct

DATE = re.compile(rb"\d{4}-\d{2}-\d{2}")
TIME = re.compile(rb"\d{2}:\d{2}:\d{2}")
QUOTED = re.compile(rb"\"[^\"]*\"|'[^']*'")
JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*')
SAME_LENGTH = {2: "é".encode(), 3: "€".encode(), 4: "😀".encode()}
LETTERS = string.ascii_lowercase.encode()
CHARACTER = re.compile(rb"[\xf0-\xff].{3}|[\xe0-\xef].{2}|[\x80-\xdf].|.", re.DOTALL)  # by its first byte's length


class Scrub:
    """The noise of one recording."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def dice(self, value: bytes) -> random.Random:
        """Chance that the value itself decides."""
        return random.Random(hashlib.blake2b(value, key=self._key).digest())

    def text(self, value: bytes) -> bytes:
        """Letters for letters, digits for digits, signs as they are, other characters of as many bytes."""
        if value[:1] in b"{[" and value:  # a document, whatever its column says
            return self.json(value)
        dice = self.dice(value)

        def noise(match: re.Match[bytes]) -> bytes:
            one = match[0]
            if len(one) > 1:
                return SAME_LENGTH[len(one)]
            if one.isalpha():
                letter = bytes((dice.choice(LETTERS),))
                return letter if one.islower() else letter.upper()
            return bytes((dice.choice(b"0123456789"),)) if one.isdigit() else one if one.isascii() else b"?"

        return CHARACTER.sub(noise, value)

    def number(self, value: bytes) -> bytes:
        """No digit becomes greater, so that no type overflows; a leading one does not become zero."""
        dice, noise = self.dice(value), bytearray(value)
        for number, match in enumerate(re.finditer(rb"\d", value)):
            digit = int(match[0])
            noise[match.start()] = 48 + dice.randint(0 if number else min(1, digit), digit)
        return bytes(noise)

    def moment(self, value: bytes) -> bytes:
        """A date, a time of day or both, in ISO 8601."""
        dice = self.dice(value)
        date = b"%04d-%02d-%02d" % (dice.randint(1970, 2037), dice.randint(1, 12), dice.randint(1, 28))
        time = b"%02d:%02d:%02d" % (dice.randint(0, 23), dice.randint(0, 59), dice.randint(0, 59))
        replaced = TIME.sub(time, DATE.sub(date, value))
        head, point, fraction = replaced.partition(b".")
        return head + point + self.number(fraction)

    def hexadecimal(self, value: bytes) -> bytes:
        """Scrub a UUID, or bytes written so."""
        dice, digits = self.dice(value), b"0123456789abcdef"
        return bytes(dice.choice(digits) if one in digits else one for one in value)

    def raw(self, value: bytes) -> bytes:
        """Any bytes."""
        return self.dice(value).randbytes(len(value))

    def json(self, value: bytes) -> bytes:
        """Its strings and numbers; what holds an escape becomes letters only."""

        def noise(match: re.Match[bytes]) -> bytes:
            token = match[0]
            if token[:1] != b'"':
                return self.number(token)
            inner = token[1:-1]
            plain = self.dice(inner).choices(LETTERS, k=len(inner)) if b"\\" in inner else self.text(b" " + inner)[1:]
            return b'"' + bytes(plain) + b'"'

        return JSON_TOKEN.sub(noise, value)

    def integer(self, value: bytes, form: str) -> bytes:
        """A binary integer: not farther from zero."""
        (one,) = struct.unpack(form, value)
        return struct.pack(form, self.dice(value).randint(min(0, one), max(0, one)))

    def floating(self, value: bytes, form: str) -> bytes:
        """A binary floating-point number: not farther from zero."""
        (one,) = struct.unpack(form, value)
        factor = self.dice(value).random()
        return struct.pack(form, one * factor) if math.isfinite(one) else value

    def quoted(self, text: bytes) -> bytes:
        """What a message quotes: it may be a value."""
        return QUOTED.sub(lambda match: match[0][:1] + self.text(b" " + match[0][1:-1])[1:] + match[0][-1:], text)
