      *> The one file of a program, named by its caller; the program adds how it is organized.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT the-file ASSIGN TO file-name FILE STATUS file-status
