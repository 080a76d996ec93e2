#!/usr/bin/env python3
"""Makes selfie.y4m: a head that turns from one side to the other, lit from the upper left.

Deterministic, with the standard library only: the same bytes on every machine.

    python3 Fixtures/make-selfie.py            # writes selfie.y4m beside this file
    python3 Fixtures/make-selfie.py OUT.y4m
"""

import math
import pathlib
import sys

WIDTH, HEIGHT, FRAMES = 160, 120, 36
CENTRE_X, CENTRE_Y = WIDTH / 2, HEIGHT / 2
RADIUS_X, RADIUS_Y = 38.0, 50.0
LIGHT = (-0.36, -0.45, 0.82)
BACKGROUND = 18


def feature(x, y, z):
    """The colour factor at a point of the unit sphere: eyes, brows, mouth and hair are darker than skin."""
    if z > 0:
        for side in (-0.36, 0.36):
            if ((x - side) / 0.13) ** 2 + ((y + 0.16) / 0.07) ** 2 < 1:
                return 0.30 if ((x - side) / 0.05) ** 2 + ((y + 0.16) / 0.06) ** 2 < 1 else 1.15
            if abs(x - side) < 0.17 and abs(y + 0.32 + 0.25 * (x - side) ** 2) < 0.025:
                return 0.45
        if abs(x) < 0.27 and abs(y - 0.42 + 0.5 * x * x) < 0.045:
            return 0.50
    return 0.55 if y < -0.62 or (z < -0.1 and y < 0.2) else 1.0


def bump(x, y, z):
    """How much a point bulges to the viewer: the nose."""
    return 0.30 * math.exp(-((x / 0.10) ** 2) - ((y - 0.10) / 0.20) ** 2) if z > 0 else 0.0


def luma(column, row, angle):
    u = (column + 0.5 - CENTRE_X) / RADIUS_X
    v = (row + 0.5 - CENTRE_Y) / RADIUS_Y
    if u * u + v * v >= 1:
        return BACKGROUND + (row * 8) // HEIGHT
    depth = math.sqrt(1 - u * u - v * v)
    sine, cosine = math.sin(angle), math.cos(angle)
    x, z = u * cosine - depth * sine, u * sine + depth * cosine
    slope = (bump(x + 0.02, v, z) - bump(x - 0.02, v, z)) / 0.04
    shade = max(0.0, (u - 0.5 * slope) * LIGHT[0] + v * LIGHT[1] + depth * LIGHT[2])
    value = feature(x, v, z) * (78 + 140 * shade)
    return max(16, min(235, int(value + 0.5)))


def chroma(plane, inside):
    return bytes((plane[1] if covered else plane[0]) for covered in inside)


def main():
    here = pathlib.Path(__file__).resolve().parent
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "selfie.y4m"
    inside = [
        ((2 * c + 1 - CENTRE_X) / RADIUS_X) ** 2 + ((2 * r + 1 - CENTRE_Y) / RADIUS_Y) ** 2 < 1
        for r in range(HEIGHT // 2)
        for c in range(WIDTH // 2)
    ]
    colours = chroma((132, 112), inside) + chroma((124, 150), inside)
    with open(target, "wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F24:1 Ip A1:1 C420jpeg\n" % (WIDTH, HEIGHT))
        for frame in range(FRAMES):
            angle = 0.45 * math.sin(2 * math.pi * frame / FRAMES)
            file.write(b"FRAME\n")
            file.write(bytes(luma(c, r, angle) for r in range(HEIGHT) for c in range(WIDTH)))
            file.write(colours)
    print(f"{target}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
