#!/usr/bin/env python3
"""Makes selfie.y4m: somebody who turns the head from one side to the other, lit from the upper left.

Deterministic, with the standard library only: the same bytes on every machine. It takes a minute or two.

    python3 Fixtures/make-selfie.py            # writes selfie.y4m next to this file
    python3 Fixtures/make-selfie.py OUT.y4m
"""

import math
import pathlib
import sys

WIDTH, HEIGHT, FRAMES = 120, 160, 36
UNIT = 86.0  # Pixels; x goes right, y down, z to the camera, which is far away.
TURN = 0.42  # The farthest turn to a side, in radians.
LIGHT = (-0.42, -0.50, 0.76)
SKIN, LIPS, HAIR, SHIRT, WALL = (226, 172, 142), (186, 92, 88), (92, 58, 38), (44, 92, 128), (18, 22, 30)
WHITE, IRIS, DARK = (236, 232, 226), (78, 104, 84), (24, 18, 16)


def ellipsoid(x, y, z, a, b, c):
    """The distance to an ellipsoid around the origin, nearly; exact on its surface."""
    k0 = math.sqrt((x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2)
    k1 = math.sqrt((x / (a * a)) ** 2 + (y / (b * b)) ** 2 + (z / (c * c)) ** 2)
    return k0 * (k0 - 1) / k1 if k1 > 1e-9 else -min(a, b, c)


def capsule(x, y, z, start, end, radius):
    ax, ay, az = start
    bx, by, bz = end[0] - ax, end[1] - ay, end[2] - az
    px, py, pz = x - ax, y - ay, z - az
    along = (px * bx + py * by + pz * bz) / (bx * bx + by * by + bz * bz)
    along = min(1.0, max(0.0, along))
    return math.sqrt((px - along * bx) ** 2 + (py - along * by) ** 2 + (pz - along * bz) ** 2) - radius


def joined(first, second, softness):
    """The union of two distances, with a soft seam."""
    share = max(softness - abs(first - second), 0.0) / softness
    return min(first, second) - share * share * softness * 0.25


def face(x, y, z):
    """The distance to the skin of the head; x is the distance from the middle."""
    d = ellipsoid(x, y + 0.08, z, 0.40, 0.46, 0.43)
    d = joined(d, ellipsoid(x, y - 0.18, z - 0.07, 0.285, 0.36, 0.33), 0.14)
    d = joined(d, ellipsoid(x - 0.20, y - 0.10, z - 0.27, 0.12, 0.10, 0.10), 0.12)
    d = joined(d, ellipsoid(x, y - 0.44, z - 0.30, 0.10, 0.08, 0.09), 0.09)
    d = joined(d, capsule(x, y, z, (0.07, -0.165, 0.375), (0.22, -0.16, 0.30), 0.035), 0.07)
    d = joined(d, ellipsoid(x - 0.415, y - 0.02, z + 0.04, 0.045, 0.11, 0.07), 0.03)
    socket = ellipsoid(x - 0.155, y + 0.065, z - 0.46, 0.085, 0.055, 0.10)
    d = -joined(-d, socket, 0.05)
    d = joined(d, ellipsoid(x - 0.155, y + 0.065, z - 0.29, 0.085, 0.075, 0.085), 0.02)
    d = joined(d, capsule(x, y, z, (0, -0.12, 0.385), (0, 0.07, 0.50), 0.034), 0.07)
    d = joined(d, ellipsoid(x, y - 0.085, z - 0.485, 0.055, 0.045, 0.06), 0.04)
    d = joined(d, ellipsoid(x - 0.055, y - 0.10, z - 0.43, 0.04, 0.035, 0.05), 0.03)
    d = joined(d, ellipsoid(x, y - 0.235, z - 0.395, 0.10, 0.022, 0.035), 0.03)
    return joined(d, ellipsoid(x, y - 0.278, z - 0.392, 0.085, 0.026, 0.04), 0.02)


def hair(x, y, z):
    d = ellipsoid(x, y + 0.15, z + 0.06, 0.455, 0.475, 0.47)
    return -joined(-d, ellipsoid(x, y - 0.16, z - 0.50, 0.37, 0.47, 0.52), 0.03)


def body(x, y, z):
    neck = capsule(x, y, z, (0, 0.30, -0.06), (0, 0.72, -0.14), 0.185)
    return neck, ellipsoid(x, y - 1.06, z + 0.14, 0.68, 0.40, 0.30)


def scene(x, y, z, sine, cosine):
    """The distance to the nearest thing, and which it is."""
    hx, hz = abs(x * cosine - z * sine), x * sine + z * cosine
    neck, shirt = body(x, y, z)
    skin = joined(face(hx, y, hz), neck, 0.06)
    return min((skin, SKIN), (hair(hx, y, hz), HAIR), (shirt, SHIRT))


def paint(thing, x, y, z, sine, cosine):
    """The colour at a point of the surface of a thing."""
    if thing is HAIR:
        strand = 1 + 0.10 * math.sin(46 * x + 14 * z + 2 * math.sin(7 * y))
        return tuple(part * strand for part in HAIR)
    if thing is SHIRT:
        return tuple(part * (0.8 if abs(math.hypot(x, y - 0.70) - 0.25) < 0.03 else 1.0) for part in SHIRT)
    side = x * cosine - z * sine
    x, z = abs(side), x * sine + z * cosine
    if z < 0.1:
        return SKIN
    eye = ((x - 0.155) / 0.072) ** 2 + ((y + 0.062) / 0.034) ** 2
    if eye < 1:
        iris = math.hypot(x - 0.152, y + 0.064)
        return DARK if iris < 0.014 or y < -0.085 else IRIS if iris < 0.032 else WHITE
    if eye < 1.5 and y < -0.062:
        return DARK
    if 0.055 < x < 0.255 and abs(y + 0.155 + 0.5 * (x - 0.15) ** 2 + 0.06 * (x - 0.15)) < 0.019:
        return HAIR
    if (x / 0.12) ** 2 + ((y - 0.256 + 1.3 * x * x) / 0.044) ** 2 < 1:
        return DARK if abs(y - 0.254 + 1.3 * x * x) < 0.006 else LIPS
    if math.hypot(x - 0.03, y - 0.118) < 0.015:
        return (120, 70, 60)
    warmth = math.exp(-(((x - 0.21) / 0.09) ** 2) - ((y - 0.10) / 0.08) ** 2)
    return SKIN[0], SKIN[1] - 22 * warmth, SKIN[2] - 18 * warmth


def pixel(column, row, angle):
    """Red, green and blue, 0 to 255: along a ray from the camera to the first surface, with its light."""
    x, y, z = (column + 0.5 - WIDTH / 2) / UNIT, (row + 0.5 - HEIGHT / 2) / UNIT, 0.62
    y += 0.06
    sine, cosine = math.sin(angle), math.cos(angle)
    for _ in range(60):
        distance, thing = scene(x, y, z, sine, cosine)
        if distance < 0.002:
            break
        z -= distance * 0.9
        if z < -0.6:
            shade = 1 + 0.25 * row / HEIGHT
            return tuple(part * shade for part in WALL)
    step = 0.004
    slope = [
        scene(x + dx, y + dy, z + dz, sine, cosine)[0] - scene(x - dx, y - dy, z - dz, sine, cosine)[0]
        for dx, dy, dz in ((step, 0, 0), (0, step, 0), (0, 0, step))
    ]
    length = math.sqrt(sum(part * part for part in slope)) or 1.0
    light = sum(part * toward for part, toward in zip(slope, LIGHT)) / length
    shade = 0.50 + 0.55 * max(0.0, light) + 0.12 * max(0.0, slope[2] / length)
    return tuple(part * shade for part in paint(thing, x, y, z, sine, cosine))


def byte(value, low, high):
    return max(low, min(high, int(value + 0.5)))


def frame(angle):
    """The planes of one frame: ITU-R BT.601, 4:2:0."""
    rows = [[pixel(column, row, angle) for column in range(WIDTH)] for row in range(HEIGHT)]
    luma = bytes(byte(16 + 0.257 * r + 0.504 * g + 0.098 * b, 16, 235) for line in rows for r, g, b in line)
    blue, red = bytearray(), bytearray()
    for row in range(0, HEIGHT, 2):
        for column in range(0, WIDTH, 2):
            four = [rows[row + down][column + right] for down in (0, 1) for right in (0, 1)]
            r, g, b = (sum(part) / 4 for part in zip(*four))
            blue.append(byte(128 - 0.148 * r - 0.291 * g + 0.439 * b, 16, 240))
            red.append(byte(128 + 0.439 * r - 0.368 * g - 0.071 * b, 16, 240))
    return luma + bytes(blue) + bytes(red)


def main():
    here = pathlib.Path(__file__).resolve().parent
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "selfie.y4m"
    frames = {}
    with open(target, "wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F24:1 Ip A1:1 C420jpeg\n" % (WIDTH, HEIGHT))
        for number in range(FRAMES):
            angle = round(TURN * math.sin(2 * math.pi * number / FRAMES), 6)
            if angle not in frames:
                frames[angle] = frame(angle)
            file.write(b"FRAME\n")
            file.write(frames[angle])
    print(f"{target}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
