      *> The file and its status, then how C calls: what is to be done, the file's name, and the status that comes back.
       WORKING-STORAGE SECTION.
       01 file-name       PIC X(1024).
       01 file-status     PIC XX.
       LINKAGE SECTION.
       01 verb            PIC X.
       01 named           PIC X(1024).
       01 outcome         PIC XX.
