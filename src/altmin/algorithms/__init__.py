"""The algorithms: one file each, pure steps on the contract, to be read beside the paper."""
