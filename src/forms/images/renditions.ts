import type { Metadata, Sharp, SharpOptions } from 'sharp';
import { ApiError } from '#kit/errors.ts';

/**
 * The stored versions of an image: the full image, and the sizes that pages use, by names such as `800.avif`.
 */
type Renditions = {
  readonly contentType: 'image/png' | 'image/jpeg';
  readonly width: number;
  readonly height: number;
  /** For browsers that support neither AVIF nor WebP, and for link previews. */
  readonly whole: Buffer;
  readonly named: ReadonlyMap<string, Buffer>;
};

/** Decoding this many pixels takes about 100 MB of memory. */
const mostPixels = 25_000_000;
/**
 * Phones take photos of up to 50 megapixels. A baseline JPEG of that size is decoded at a quarter of its
 * width.
 */
const mostBaselinePixels = 52_000_000;
/**
 * A progressive JPEG or an interlaced PNG is decoded at full size, once for each scan: 24 megapixels in 5.4
 * MB took 18 s.
 */
const mostProgressivePixels = 8_000_000;
/**
 * Widths that screens choose from, if the image is wider: for logos, for columns on phones and desktops, and
 * for high-density screens.
 */
const widths = [160, 320, 480, 800, 1200] as const;
/** The longest side that is stored: the widest column on a high-density screen. */
const longest = 1920;
/** The side of the favicon in pixels. High-density screens show it at 64 pixels. */
const iconSide = 96;
/**
 * The timeout for decoding an upload or writing one rendition. Each takes about 100 ms, but many times that
 * on a busy machine.
 */
const patienceSeconds = 20;
/** The maximum number of images that can wait. Each takes about a second. */
const mostWaiting = 4;

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/** Processes one image at a time in each process, to leave threads and memory for other requests. */
function runSequentially<Result>(work: () => Promise<Result>): Promise<Result> {
  if (waiting > mostWaiting) {
    const message = 'Too many images are being processed. Try again in a moment.';
    throw new ApiError('service_unavailable', message, { retryAfter: 5 });
  }
  waiting += 1;
  const result = last.then(work).finally(() => (waiting -= 1));
  last = result.catch(() => undefined);
  return result;
}

/**
 * Creates the renditions of an image, on threads outside the event loop. They contain its pixels, upright and
 * in sRGB, and no metadata: no location, date or name.
 * @throws ApiError unsupported_media_type if the image is unreadable or animated, payload_too_large if it has
 * too many pixels, service_unavailable if too many images wait.
 */
export async function makeRenditions(bytes: Buffer): Promise<Renditions> {
  return runSequentially(async () => {
    // Loaded with the first image, because most processes never need it.
    const { default: sharp } = await import('sharp');
    const open = (input: Buffer, options: SharpOptions): Sharp =>
      sharp(input, options).timeout({ seconds: patienceSeconds });
    refuseBy(await open(bytes, { limitInputPixels: false }).metadata().catch(refuseDamaged));
    const { data, info } = await readPixels(
      open(bytes, { limitInputPixels: mostBaselinePixels, failOn: 'error' }),
    );
    const image = (): Sharp => open(data, { raw: info });
    const { isOpaque } = await image().stats();
    const named = new Map<string, Buffer>();
    for (const width of [...widths.filter((each) => each < info.width), info.width]) {
      const small = image().resize({ width });
      // Effort 2 takes four times the CPU time of effort 0, for an equal size and no higher fidelity (PSNR
      // 37.7 against 38.3).
      named.set(`${width}.avif`, await small.clone().avif({ quality: 60, effort: 0 }).toBuffer());
      named.set(
        `${width}.webp`,
        await small.webp({ quality: 80, effort: 3, smartSubsample: true }).toBuffer(),
      );
    }
    const icon = image().resize(iconSide, iconSide, { fit: 'contain', background: '#0000' });
    named.set('icon.png', await icon.png().toBuffer());
    const whole = isOpaque ? image().removeAlpha().jpeg({ quality: 85, mozjpeg: true }) : image().png();
    return {
      contentType: isOpaque ? 'image/jpeg' : 'image/png',
      width: info.width,
      height: info.height,
      whole: await whole.toBuffer(),
      named,
    };
  });
}

/** Rejects an image by its header alone, without decoding it. */
function refuseBy({ width, height, format, pages = 1, isProgressive }: Metadata): void {
  const pixels = width * height;
  if (isProgressive && pixels > mostProgressivePixels) {
    const [has, may] = [pixels, mostProgressivePixels].map((count) => Math.ceil(count / 1_000_000));
    const message = `The progressive image has ${has} megapixels; the limit is ${may}. Save it without “progressive” or “interlaced”, or choose a smaller one.`;
    throw new ApiError('payload_too_large', message);
  }
  const most = format === 'jpeg' && !isProgressive ? mostBaselinePixels : mostPixels;
  if (pixels > most) {
    const [has, may] = [pixels, most].map((count) => Math.ceil(count / 1_000_000));
    const message = `The image has ${has} megapixels; the limit is ${may}. Choose a smaller one.`;
    throw new ApiError('payload_too_large', message);
  }
  if (pages > 1) throw new ApiError('unsupported_media_type', 'The image is animated. Choose a still image.');
}

function refuseDamaged(cause: unknown): never {
  const message = 'The image is damaged and cannot be read. Choose another one.';
  throw new ApiError('unsupported_media_type', message, { cause });
}

type Pixels = { data: Buffer; info: { width: number; height: number; channels: 1 | 2 | 3 | 4 } };

const readPixels = (image: Sharp): Promise<Pixels> =>
  image
    .autoOrient()
    .resize({ width: longest, height: longest, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
    .catch(refuseDamaged);
