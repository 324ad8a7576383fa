"""Tables and figures of the paper, made anew from data; measured values beside the printed ones."""
