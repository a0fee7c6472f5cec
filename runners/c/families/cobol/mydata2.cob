      *> Records of ten bytes of key and thirty of data, in an INDEXED file.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. mydata2.
       COPY "file.cpy".
           ORGANIZATION INDEXED ACCESS DYNAMIC RECORD KEY stored-key.
       DATA DIVISION.
       FILE SECTION.
       FD the-file.
       01 stored.
          05 stored-key    PIC X(10).
          05 stored-data   PIC X(30).
       COPY "call.cpy".
       01 given.
          05 key1          PIC X(10).
          05 data1         PIC X(30).
       PROCEDURE DIVISION USING verb named given outcome.
           EVALUATE verb
           WHEN "R"
               MOVE key1 TO stored-key
               READ the-file
               MOVE stored TO given
           WHEN "N"
               READ the-file NEXT
               MOVE stored TO given
           WHEN "W"
               MOVE given TO stored
               WRITE stored
           WHEN "U"
               MOVE named TO file-name
               OPEN I-O the-file
           COPY "open.cpy".
           END-EVALUATE
           MOVE file-status TO outcome
           GOBACK.
