      *> How C calls: what is to be done, the file's name, the record, and the file status that comes back.
       01 verb            PIC X.
       01 named           PIC X(1024).
       01 outcome         PIC XX.
