"""`terra-run --coverage SCRIPT`: which names of torch a program uses, and which of them Terra has. Nothing of the
program is run: its text is read, with that of the files beside it that it imports."""
