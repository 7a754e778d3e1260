"""Where libraries are kept. `reference` is the obviously right one, `sqlite` the default."""
