"""Images: patches as rows, dictionaries of them, and what can be done with those."""

from altmin.images.denoise import denoise
from altmin.images.inpaint import inpaint
from altmin.images.learn import learn_dictionary
from altmin.images.noise import estimate_noise
from altmin.images.patches import Patches
from altmin.images.reconstruct import reconstruct

__all__ = ["Patches", "denoise", "estimate_noise", "inpaint", "learn_dictionary", "reconstruct"]
