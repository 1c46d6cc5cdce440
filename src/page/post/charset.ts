import { ApiError } from '#kit/errors.ts';

/** A string from a posted form whose charset is not known yet. */
export type SentText = {
  readonly name: string;
  readonly bytes: Buffer;
  /** The charset that the multipart part names. */
  readonly charset?: string | undefined;
  /** Whether the end was cut off, possibly in the middle of a character. */
  readonly isCut?: boolean;
};

/** Returns the charset that a Content-Type header of a body or a part names. */
export function charsetOf(header: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(header ?? '')?.[1];
}

/**
 * Decodes the strings of a posted form. The charset comes from the part, from the control `_charset_`, which
 * browsers fill in, or from the body. The default is UTF-8.
 * @throws ApiError bad_request for bytes that are not valid in the charset, which are never replaced;
 * unsupported_media_type.
 */
export function decodeTexts(
  texts: readonly SentText[],
  ofBody: string | undefined,
): [name: string, value: string][] {
  const declared = texts
    .find(({ name }) => name === '_charset_')
    ?.bytes.toString('latin1')
    .trim();
  return texts.map((text) => [text.name, decode(text, text.charset ?? (declared || ofBody || 'utf-8'))]);
}

function decode({ name, bytes, isCut = false }: SentText, charset: string): string {
  const decoder = decoderOf(charset);
  try {
    return decoder.decode(bytes, { stream: isCut });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const message = `${JSON.stringify(name.slice(0, 80))} contains bytes that are not valid ${decoder.encoding}. Send the form in UTF-8, or name its charset in a hidden field "_charset_", which browsers fill in.`;
    throw new ApiError('bad_request', message, { cause: error });
  }
}

function decoderOf(charset: string): InstanceType<typeof TextDecoder> {
  try {
    const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: true });
    // A form is parsed as ASCII before its charset is known. UTF-16 is not compatible with ASCII.
    if (!decoder.encoding.startsWith('utf-16')) return decoder;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  const message = `Unknown charset ${JSON.stringify(charset.slice(0, 80))}. Send the form in UTF-8.`;
  throw new ApiError('unsupported_media_type', message);
}

/**
 * Parses a urlencoded body pair by pair, because the platform's parser takes seconds for some bodies. @throws
 * ApiError, as decodeTexts does.
 */
export function readUrlencoded(body: Buffer, contentType: string | undefined): URLSearchParams {
  const pairs = body.toString('latin1').split('&').filter(Boolean);
  const texts = pairs.map((pair): SentText => {
    const [name = '', ...value] = pair.split('=');
    return { name: bytesOf(name).toString(), bytes: bytesOf(value.join('=')) };
  });
  return new URLSearchParams(decodeTexts(texts, charsetOf(contentType)));
}

const [percent, plus, space] = [0x25, 0x2b, 0x20];

/** Decodes a name or value in one pass, because a body may contain a megabyte of escapes. */
function bytesOf(encoded: string): Buffer {
  const sent = Buffer.from(encoded, 'latin1');
  let length = 0;
  for (let at = 0; at < sent.length; at += 1) {
    let byte = sent[at]!;
    if (byte === plus) byte = space;
    else if (byte === percent) {
      const [high, low] = [digitOf(sent[at + 1]), digitOf(sent[at + 2])];
      if (high >= 0 && low >= 0) {
        byte = high * 16 + low;
        at += 2;
      }
    }
    sent[length] = byte;
    length += 1;
  }
  return sent.subarray(0, length);
}

/** Returns the value of a hexadecimal digit, or -1 for any other character. */
function digitOf(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
