"""How well letters stand out, as the accessibility guidelines (WCAG 2.2) measure it."""


def luminance(rgb):
    """How bright a colour is, from 0 to 1."""
    parts = [value / 255 for value in rgb[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """From 1 (the same) to 21 (black on white)."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)
