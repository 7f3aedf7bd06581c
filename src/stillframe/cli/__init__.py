"""Takes the words of a command line and gives what they ask for, one small file a command.

Must not know of torch: what runs a model is reached through the session, and only when it is needed.
"""
