"""Takes batches of records and gives one `.still` file, and takes such a file and gives the records back.

Must not know of torch, of the producing half, or of anything a recording names: opening one is reading data.
"""
