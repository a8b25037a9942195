"""Drafts of declarations: which kinds the columns of a file may have, for its owner to correct."""
