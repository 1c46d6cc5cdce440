import { readFileSync } from 'node:fs';
import { ConfigError } from '#kit/config.ts';

/**
 * Checks the font files of PDF_FONTS at the start, so that no PDF fails later.
 * @throws ConfigError if a file cannot be read or is not a TrueType or OpenType font.
 */
export async function checkFontFiles(paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  // Loading it takes 200 ms, and most instances need no fonts of their own.
  const { create } = await import('fontkit');
  for (const path of paths) {
    try {
      // Web fonts have another type. They cannot be embedded.
      if (['TTF', 'TTC'].includes(create(readFileSync(path)).type)) continue;
    } catch {
      // The message below says what the file must be.
    }
    throw new ConfigError([
      `PDF_FONTS names "${path}", which cannot be read as a font. Each path must be a TrueType or OpenType file (.ttf, .otf or .ttc).`,
    ]);
  }
}
