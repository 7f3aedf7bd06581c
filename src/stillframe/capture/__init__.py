"""Takes functions and a run; gives what happened in it: events, values and frames, as batches of records.

Must not know how a recording is kept, read or shown: nothing here imports recording, reading or views.
"""
