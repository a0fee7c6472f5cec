      *> The web hits in a SEQUENTIAL file.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. hits-sequential.
       COPY "file.cpy".
           ORGANIZATION SEQUENTIAL.
       DATA DIVISION.
       FILE SECTION.
       FD the-file.
       01 stored          PIC X(119).
       COPY "call.cpy".
       COPY "hit.cpy".
       PROCEDURE DIVISION USING verb named hit outcome.
           EVALUATE verb
           WHEN "N"
               READ the-file
               MOVE stored TO hit
           WHEN "W"
               WRITE stored FROM hit
           COPY "open.cpy".
           END-EVALUATE
           MOVE file-status TO outcome
           GOBACK.
