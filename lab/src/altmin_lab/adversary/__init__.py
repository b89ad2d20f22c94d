"""An adversary for the guarantee reports: kinds of problems by composition, base model times perturbation.

The kinds are split once and for all: rules may be tuned on some perturbations, and are judged on others that
were never looked at while they were tuned. The split is one of kinds, not of seeds.
"""
