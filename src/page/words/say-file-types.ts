import type { Words } from './words.ts';

/** The types that an upload accepts, in words: `images, .pdf`. A type without a word of its own is said as it is. */
export function sayFileTypes(
  types: readonly string[],
  words: Pick<Words, 'images' | 'sounds' | 'videos'>,
): string {
  const families: Readonly<Record<string, string>> = {
    'image/*': words.images,
    'audio/*': words.sounds,
    'video/*': words.videos,
    'application/pdf': 'PDF',
  };
  return types.map((type) => families[type.toLowerCase()] ?? type).join(', ');
}
