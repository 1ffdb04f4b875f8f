"""Changes one place of the code at a time and sees whether the tests notice: `make mutants`."""
