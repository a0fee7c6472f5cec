      *> The verbs that every file has.
           WHEN "I"
               MOVE named TO file-name
               OPEN INPUT the-file
           WHEN "O"
               MOVE named TO file-name
               OPEN OUTPUT the-file
           WHEN "C"
               CLOSE the-file
