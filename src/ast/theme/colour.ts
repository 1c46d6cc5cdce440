/** A colour as three shares of light, 0 to 1 each, as sRGB encodes them. */
type Rgb = readonly [red: number, green: number, blue: number];

/** A colour as eyes see it (OKLCH): lightness 0 to 1, chroma from 0 (grey), hue in degrees. */
export type Oklch = { readonly lightness: number; readonly chroma: number; readonly hue: number };

/** `#rrggbb`, in either case. */
export function isColour(value: unknown): value is string {
  return typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value);
}

/** Contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** A contrast for a person: `3.2:1`. Cut, not rounded, so that 4.49 is never said to be 4.5. */
export function sayContrast(ratio: number): string {
  return `${Math.floor(ratio * 10) / 10}:1`;
}

function luminance(colour: string): number {
  const [red, green, blue] = readHex(colour).map(toLinear) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function readHex(colour: string): Rgb {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  return [red!, green!, blue!];
}

const toLinear = (share: number): number =>
  share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
const toEncoded = (light: number): number =>
  light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055;

/** Björn Ottosson's Oklab, 2021: distances in it are those that eyes see. */
export function toOklch(colour: string): Oklch {
  const [red, green, blue] = readHex(colour).map(toLinear) as [number, number, number];
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  const a = 1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short;
  const b = 0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short;
  return {
    lightness: 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    chroma: Math.hypot(a, b),
    hue: (Math.atan2(b, a) * 180) / Math.PI,
  };
}

/** How far two colours are apart to the eye: white and black are 1. */
export function distance(one: string, other: string): number {
  const place = (colour: string): readonly number[] => {
    const { lightness, chroma, hue } = toOklch(colour);
    const angle = (hue * Math.PI) / 180;
    return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
  };
  const from = place(other);
  return Math.hypot(...place(one).map((value, axis) => value - from[axis]!));
}

/** The nearest colour that screens can show: lightness and hue are kept, chroma gives way. */
export function fromOklch({ lightness, chroma, hue }: Oklch): string {
  let [fits, tooMuch] = [0, chroma];
  const whole = toRgb({ lightness, chroma, hue });
  if (isShown(whole)) return writeHex(whole);
  // Twelve halvings leave less than a 4000th of the chroma, which no eye tells.
  for (let halving = 0; halving < 12; halving += 1) {
    const middle = (fits + tooMuch) / 2;
    if (isShown(toRgb({ lightness, chroma: middle, hue }))) fits = middle;
    else tooMuch = middle;
  }
  return writeHex(toRgb({ lightness, chroma: fits, hue }));
}

function toRgb({ lightness, chroma, hue }: Oklch): Rgb {
  const angle = (hue * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)];
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    toEncoded(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    toEncoded(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    toEncoded(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
  ];
}

/** Half a step of 255 outside is rounded away. */
const isShown = (colour: Rgb): boolean => colour.every((share) => share >= -0.002 && share <= 1.002);

function writeHex(colour: Rgb): string {
  const pairs = colour.map((share) =>
    Math.round(Math.min(1, Math.max(0, share)) * 255)
      .toString(16)
      .padStart(2, '0'),
  );
  return `#${pairs.join('')}`;
}
