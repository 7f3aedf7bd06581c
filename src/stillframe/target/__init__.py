"""Takes the user's words and gives what is to be run: a model with its inputs, a scenario, or a script.

Must not know how a run is watched, kept or read: nothing here imports capture, recording, reading or views.
"""
