import type { Metadata, Sharp, SharpOptions } from 'sharp';
import { ApiError } from '#kit/errors.ts';

/** What a picture is kept as: whole, and in what pages ask for, each under a name like `800.avif`. */
export type Renditions = {
  readonly contentType: 'image/png' | 'image/jpeg';
  readonly width: number;
  readonly height: number;
  /** For browsers that know nothing newer, and for sites that show a link with its picture. */
  readonly whole: Buffer;
  readonly named: ReadonlyMap<string, Buffer>;
};

/** Decoded they take some 100 MB. */
const mostPixels = 25_000_000;
/** Phones take pictures of up to 50 million pixels. A baseline JPEG of that size is decoded at a quarter of its width. */
const mostBaselinePixels = 52_000_000;
/** A progressive JPEG or an interlaced PNG is decoded as a whole, once for each scan: 24 million pixels in 5.4 MB took 18 s. */
const mostProgressivePixels = 8_000_000;
/** Below its own width, what a screen chooses from: a logo on any, a phone's column, a desk's, and on fine screens. */
const widths = [160, 320, 480, 800, 1200] as const;
/** The longest side that is kept: the column at its widest, on a fine screen. */
const longest = 1920;
/** Of the picture in a browser's tab, which a fine screen shows at 64. */
const iconSide = 96;
/** Reading what was sent, or writing one rendition: some 100 ms, on a busy machine many times that. */
const patienceSeconds = 20;
/** Pictures that may wait for their turn; each takes about a second. */
const mostWaiting = 4;

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/** One picture at a time in a process, so that its threads and memory are there for the requests beside it. */
function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (waiting > mostWaiting) {
    const message = 'Many images come at once. Try again in a moment.';
    throw new ApiError('service_unavailable', message, { retryAfter: 5 });
  }
  waiting += 1;
  const result = last.then(work).finally(() => (waiting -= 1));
  last = result.catch(() => undefined);
  return result;
}

/**
 * Makes the renditions of an image, on threads beside the event loop. They hold its pixels, upright and in sRGB, and
 * nothing else of it: no place, no date, no name.
 * @throws ApiError unsupported_media_type for one that cannot be read or moves, payload_too_large for one of too many
 * pixels, service_unavailable when too many wait.
 */
export async function makeRenditions(bytes: Buffer): Promise<Renditions> {
  return inTurn(async () => {
    // Loaded with the first picture: most processes never see one.
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
      // Effort 2 takes four times the CPU of 0, for the same size and no higher fidelity (PSNR 37.7 against 38.3).
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

/** Judges an image by its header alone: what it would unpack to is not unpacked for that. */
function refuseBy({ width, height, format, pages = 1, isProgressive }: Metadata): void {
  const pixels = width * height;
  if (isProgressive && pixels > mostProgressivePixels) {
    const [has, may] = [pixels, mostProgressivePixels].map((count) => Math.ceil(count / 1_000_000));
    const message = `The image is progressive and has ${has} megapixels; ${may} are allowed. Save it without “progressive” or “interlaced”, or choose a smaller one.`;
    throw new ApiError('payload_too_large', message);
  }
  const most = format === 'jpeg' && !isProgressive ? mostBaselinePixels : mostPixels;
  if (pixels > most) {
    const [has, may] = [pixels, most].map((count) => Math.ceil(count / 1_000_000));
    const message = `The image has ${has} megapixels, and may have ${may}. Choose a smaller one.`;
    throw new ApiError('payload_too_large', message);
  }
  if (pages > 1)
    throw new ApiError('unsupported_media_type', 'This image moves. Choose one that stands still.');
}

function refuseDamaged(cause: unknown): never {
  const message = 'This image is damaged: it cannot be read to its end.';
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
