"""Takes a recording's records and gives what a reader asks of them, each question answered by one pure pass.

Must not know of torch, of the producing half, or of how answers are shown; only `still` knows of the file.
"""
