"""The library over HTTP: parse, call Library, present; no ranking logic."""
