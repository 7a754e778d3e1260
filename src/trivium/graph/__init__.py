"""Facts: RDF in and out, what they are called, what is wrong with them, and who decided what.

Only `rdf.py` and `worker.py` know pyoxigraph, which is the extra `graph`; all else is plain Python
over `Quad` values, so that a library with facts can be searched without it.
"""
