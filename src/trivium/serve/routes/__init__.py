"""The routes, one module for each thing that can be asked about."""
