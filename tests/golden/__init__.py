"""Whole cases: `<dialect>/<case>/in.yaml`, and what comes of it in `<dialect>/<case>/out/`.

`make golden` writes `out` anew; the difference is what is reviewed.
"""
