/**
 * Patterns for everything that differs between two runs of one product: ids, times, ports, tokens, file
 * system sizes. They are replaced in every recorded text, in this order.
 */
const patterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<id>'],
  // API keys.
  [/\bfl_[\w-]{20,}/g, '<key>'],
  [/\bwhsec_[\w+/=-]{20,}/g, '<secret>'],
  [/\bv1,[\w+/=]{40,}/g, '<signature>'],
  [/\bsha256=[0-9a-f]{64}\b/g, '<signature>'],
  [/\b(?:localhost|127\.0\.0\.1):\d{4,5}\b/g, '<host>'],
  // Names of built files contain a hash of their content.
  [/([\w.-]*?)[-.][\w-]{8,}\.(js|css|woff2|svg|png|webp)\b/g, '$1.<hash>.$2'],
  [/sha(256|384|512)-[\w+/=]{40,}/g, 'sha$1-<hash>'],
  // ISO times, with or without milliseconds and zone, then formats for people.
  [/\b20(?:25|26|27)-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b20(?:25|26|27)-\d\d-\d\d \d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?/g, '<time>'],
  [/\b20(?:25|26|27)-\d\d-\d\d\b/g, '<day>'],
  // Seconds since 1970.
  [/\b1[789]\d{8}\b/g, '<seconds>'],
  [/\b[A-Z][a-z]{2}, \d\d? [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d (?:GMT|[+-]\d{4})/g, '<time>'],
  [
    /\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) 20(?:25|26|27) at \d\d:\d\d/g,
    '<time>',
  ],
  [/\b\d{1,2}:\d\d(?::\d\d)?\s?[AP]M\b/g, '<time>'],
  [/\bfl_[\w-]{6,12}…/g, '<key>…'],
  [/\b_once-[0-9a-f]{12}\b/g, '_once-<random>'],
  [/\b1[789]\d{11}\b/g, '<milliseconds>'],
  [/\b\d+(?:\.\d+)? ms\b/g, '<duration>'],
  [/\bjust now\b|\b\d+ (?:second|minute|hour)s? ago\b/g, '<ago>'],
  // Short references of submissions.
  [/\b[0-9A-Z]{5}-[0-9A-Z]{5}\b/g, '<reference>'],
  // Long strings without spaces: signatures, sealed values and random ones.
  [/\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{32,}(?:\.[\w-]{10,})*/g, '<token>'],
];

/** Replaces what differs between two runs. */
export const normalize = (text: string): string =>
  patterns.reduce((result, [pattern, replacement]) => result.replaceAll(pattern, replacement), text);

/** Puts each HTML tag on its own line, so that differences are lines. */
export const splitTags = (html: string): string => html.replaceAll(/\s*(?=<)/g, '\n').trim();

/** Returns JSON with sorted keys, so that their order makes no difference. Arrays keep their order. */
export const sortedJson = (value: unknown): string =>
  JSON.stringify(
    value,
    (_key, each: unknown) =>
      each !== null && typeof each === 'object' && !Array.isArray(each)
        ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : each,
    2,
  );
