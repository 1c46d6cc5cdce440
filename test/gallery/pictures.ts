import sharp from 'sharp';

/** Yields numbers from 0 to 1 that look random and are the same in every run. */
function* noise(): Generator<number, never> {
  let state = 1;
  for (;;) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    yield (state >>> 8) / 2 ** 24;
  }
}

/** Returns noise of one size: random light and dark, smoothed when it is enlarged to the picture. */
async function cloud(
  random: Iterator<number, never>,
  [width, height]: Size,
  detail: number,
): Promise<Buffer> {
  const [across, down] = [Math.ceil(width / detail), Math.ceil(height / detail)];
  const raw = Buffer.from(Array.from({ length: across * down }, () => random.next().value * 255));
  return sharp(raw, { raw: { width: across, height: down, channels: 1 } })
    .resize(width, height, { fit: 'fill', kernel: 'cubic' })
    .extractChannel(0)
    .raw()
    .toBuffer();
}

type Size = readonly [width: number, height: number];

/**
 * Draws a JPEG of the best quality with the file size of a photograph: a landscape under a sky, with detail
 * of every size down to sensor grain.
 */
export async function makePhoto(size: Size): Promise<Buffer> {
  const [width, height] = size;
  const random = noise();
  const details = [height / 2, height / 6, height / 18, height / 60, 12, 5, 2];
  const clouds: Buffer[] = [];
  for (const detail of details) clouds.push(await cloud(random, size, Math.max(2, Math.round(detail))));
  const pixels = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at += 1) {
    const [x, y] = [at % width, Math.floor(at / width)];
    // Finer detail is weaker, as in natural scenes.
    const texture = clouds.reduce((sum, each, level) => sum + (each[at]! - 128) / 1.6 ** level, 0) / 320;
    const horizon = height * (0.55 + 0.12 * Math.sin((5 * x) / width));
    const isSky = y + 40 * texture < horizon;
    const grain = (random.next().value - 0.5) * 10;
    const [red, green, blue] = isSky ? [150, 180, 215] : [96, 110, 70];
    const light = (isSky ? 45 : 130) * texture + (isSky ? (60 * y) / height : 30 - (70 * y) / height);
    pixels[3 * at] = clamp(red + light * 1.1 + grain);
    pixels[3 * at + 1] = clamp(green + light + grain);
    pixels[3 * at + 2] = clamp(blue + light * 0.8 + grain);
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 95, chromaSubsampling: '4:4:4' })
    .toBuffer();
}

const clamp = (value: number): number => Math.max(0, Math.min(255, value));

/** Draws a wordmark in a color on a transparent background. */
export const makeLogo = (colour: string): Promise<Buffer> =>
  sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="160"><g fill="none" stroke="${colour}" stroke-width="14" stroke-linecap="round"><path d="M30 130V30l50 60 50-60v100"/><circle cx="220" cy="80" r="48"/><path d="M310 130V30h60a30 30 0 0 1 0 60h-60M460 30v100M400 30h120M560 30h60M560 80h50M560 130h60M560 30v100"/></g></svg>`,
    ),
  )
    .png()
    .toBuffer();
