"""Takes what reading found and gives screens: documents of view-neutral parts, lowered to a terminal's text, or JSON.

Must not know of files, of torch, or of how anything was found.
"""
