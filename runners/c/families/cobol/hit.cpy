      *> A web hit, as C and COBOL hand it to each other: adapters/gnucobol.c has the same layout.
       01 hit.
          05 reqtype      PIC X(10).
          05 reqfile      PIC X(80).
          05 browser      PIC X(10).
          05 reqts        BINARY-DOUBLE.
          05 reqsize      BINARY-LONG.
          05 requser      BINARY-LONG.
          05 requser-null BINARY-CHAR.
          05 geoid        BINARY-SHORT.
