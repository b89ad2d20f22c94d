"""Names of the channels in which mutations are counted, in the notations that tools write.

96 single base substitutions (``A[C>A]A``), 78 doublets (``AC>CA``) and 83 small insertions and deletions
(``1:Del:C:0``). Other notations of the same channels are translated: ``ACA>AAA``, ``C>A`` with ``ACA`` beside
it, the other strand (``T[G>T]T``), ``DEL_C_1_0``.
"""

from __future__ import annotations

import re
from itertools import product

_OTHER_STRAND = str.maketrans("ACGT", "TGCA")
_SUBSTITUTIONS = ("C>A", "C>G", "C>T", "T>A", "T>C", "T>G")
_DOUBLETS = {
    "AC": "CA CG CT GA GG GT TA TG TT",
    "AT": "CA CC CG GA GC TA",
    "CC": "AA AG AT GA GG GT TA TG TT",
    "CG": "AT GC GT TA TC TT",
    "CT": "AA AC AG GA GC GG TA TC TG",
    "GC": "AA AG AT CA CG TA",
    "TA": "AT CG CT GC GG GT",
    "TC": "AA AG AT CA CG CT GA GG GT",
    "TG": "AA AC AT CA CC CT GA GC GT",
    "TT": "AA AC AG CA CC CG GA GC GG",
}


def _indels() -> list[str]:
    ones = [f"1:{kind}:{base}:{n}" for kind in ("Del", "Ins") for base in "CT" for n in range(6)]
    repeats = [f"{size}:{kind}:R:{n}" for kind in ("Del", "Ins") for size in range(2, 6) for n in range(6)]
    micro = [f"{size}:Del:M:{n}" for size in range(2, 6) for n in range(1, size if size < 5 else 6)]
    return [*ones, *repeats, *micro]


CHANNELS: dict[str, tuple[str, ...]] = {
    "SBS96": tuple(
        f"{left}[{change}]{right}" for change in _SUBSTITUTIONS for left, right in product("ACGT", "ACGT")
    ),
    "DBS78": tuple(f"{ref}>{alt}" for ref, alts in _DOUBLETS.items() for alt in alts.split()),
    "ID83": tuple(_indels()),
}
_KNOWN = {name: kind for kind, names in CHANNELS.items() for name in names}


def kind_of(channels: list[str]) -> str | None:
    """Which of the three sets of channels most of the names belong to, or None.

    Parameters
    ----------
    channels : list of str
        Names in any notation.

    Returns
    -------
    str or None
        'SBS96', 'DBS78' or 'ID83'.
    """
    kinds = [_KNOWN.get(canonical(name) or "") for name in channels]
    found = {kind: kinds.count(kind) for kind in CHANNELS}
    best = max(found, key=lambda kind: found[kind])
    return best if 2 * found[best] > len(channels) else None


def canonical(name: str) -> str | None:
    """The name of a channel in the notation of :data:`CHANNELS`; None where it isn't one.

    Parameters
    ----------
    name : str
        In any of the known notations.

    Returns
    -------
    str or None
        For example 'A[C>A]A'.
    """
    text = name.strip().strip('"')
    if text in _KNOWN:
        return text
    for read in (_substitution, _doublet, _indel):
        found = read(text)
        if found is not None and found in _KNOWN:
            return found
    return None


def _substitution(text: str) -> str | None:
    """From A[C>A]A on either strand, ACA>AAA, and C>A with ACA on either side of it."""
    base = "[ACGT]"
    if match := re.fullmatch(rf"({base})\[({base})>({base})\]({base})", text):
        left, ref, alt, right = match.groups()
    elif match := re.fullmatch(rf"({base})({base})({base})>({base})({base})({base})", text):
        left, ref, right, first, alt, last = match.groups()
        if (left, right) != (first, last):
            return None
    else:
        parts = re.split(r"[^ACGT>]+", text)
        change = next((part for part in parts if re.fullmatch(rf"{base}>{base}", part)), None)
        around = next((part for part in parts if re.fullmatch(rf"{base}{{3}}", part)), None)
        if change is None or around is None or len(parts) != 2 or around[1] != change[0]:
            return None
        left, ref, right, alt = around[0], around[1], around[2], change[2]
    if ref in "AG":  # the other strand
        left, ref, alt, right = (letter.translate(_OTHER_STRAND) for letter in (right, ref, alt, left))
    return f"{left}[{ref}>{alt}]{right}"


def _doublet(text: str) -> str | None:
    """From AC>CA or 'AC CA', on either strand."""
    match = re.fullmatch(r"([ACGT]{2})\W+([ACGT]{2})", text)
    if match is None:
        return None
    here = f"{match[1]}>{match[2]}"
    there = ">".join(part.translate(_OTHER_STRAND)[::-1] for part in match.groups())
    return here if here in _KNOWN else there


def _indel(text: str) -> str | None:
    """From DEL_C_1_0, DEL_repeats_2_5+ or DEL_MH_2_1; 5+ is 5."""
    match = re.fullmatch(r"(DEL|INS)_(C|T|repeats|MH)_(\d)\+?_(\d)\+?", text)
    if match is None:
        return None
    kind, unit, size, number = match.groups()
    letter = {"repeats": "R", "MH": "M"}.get(unit, unit)
    return f"{size}:{kind.capitalize()}:{letter}:{number}"
