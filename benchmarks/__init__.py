"""Takes the tool as it is checked out; measures what it costs, beside a bare run and beside other recorders of a run.

`python -m benchmarks` runs it. Knows the tool from outside: an engine is started and stopped around calls as
`stillframe read` does it, and nothing in the tool knows of being measured.
"""
