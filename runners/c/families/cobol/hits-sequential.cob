      *> The web hits in a SEQUENTIAL file.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. hits-sequential.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT the-file ASSIGN TO file-name
               ORGANIZATION SEQUENTIAL FILE STATUS file-status.
       DATA DIVISION.
       FILE SECTION.
       FD the-file.
       01 stored          PIC X(119).
       WORKING-STORAGE SECTION.
       01 file-name       PIC X(1024).
       01 file-status     PIC XX.
       LINKAGE SECTION.
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
