      *> The web hits in an INDEXED file: by number, for none of their fields is a key.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. hits-indexed.
       COPY "file.cpy".
           ORGANIZATION INDEXED ACCESS SEQUENTIAL RECORD KEY record-number.
       DATA DIVISION.
       FILE SECTION.
       FD the-file.
       01 stored.
          05 record-number PIC 9(9) COMP.
          05 stored-hit    PIC X(119).
       COPY "call.cpy".
       COPY "hit.cpy".
       PROCEDURE DIVISION USING verb named hit outcome.
           EVALUATE verb
           WHEN "N"
               READ the-file NEXT
               MOVE stored-hit TO hit
           WHEN "W"
               ADD 1 TO record-number
               MOVE hit TO stored-hit
               WRITE stored
           COPY "open.cpy".
           END-EVALUATE
           IF verb = "O" MOVE 0 TO record-number END-IF
           MOVE file-status TO outcome
           GOBACK.
