import { readFileSync } from 'node:fs';
import { create, type Font } from 'fontkit';
import subsetFont from 'subset-font';

/** The weights of texts. */
const weights = { regular: 400, bold: 700 } as const;
export type Weight = keyof typeof weights;

/** A font that a document uses, under its name in the document. */
type OpenFont = { readonly name: string; readonly font: Font };

/** A font file, and which characters it may have. */
type FontFile = {
  readonly name: string;
  mayHave(point: number): boolean;
  open(weight: Weight): Promise<Font>;
};

/** The included typefaces, by the name of their files: the ranges of characters in each file. */
const typefaces = {
  'noto-sans': import.meta.resolve('@fontsource-variable/noto-sans/unicode.json'),
  'noto-sans-hebrew': import.meta.resolve('@fontsource-variable/noto-sans-hebrew/unicode.json'),
  // Noto Sans Arabic draws dots as glyphs of their own, so its text could not be searched.
  vazirmatn: import.meta.resolve('@fontsource-variable/vazirmatn/unicode.json'),
  'noto-sans-jp': import.meta.resolve('@fontsource-variable/noto-sans-jp/unicode.json'),
  'noto-sans-sc': import.meta.resolve('@fontsource-variable/noto-sans-sc/unicode.json'),
  'noto-emoji': import.meta.resolve('@fontsource-variable/noto-emoji/unicode.json'),
} as const;

/**
 * Lists the font files to try, the first first. Chinese and Japanese share characters, but draw some
 * differently, so the text decides which typeface is tried first.
 */
function listFontFiles(text: string, language: string, operatorFiles: readonly string[]): FontFile[] {
  const isJapanese = /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) || /^ja\b/.test(language);
  const eastern = ['noto-sans-jp', 'noto-sans-sc'] as const;
  return [
    ...(['noto-sans', 'noto-sans-hebrew', 'vazirmatn'] as const).flatMap(includedFiles),
    ...(isJapanese ? eastern : eastern.toReversed()).flatMap(includedFiles),
    ...operatorFiles.map((path) => ({
      name: path,
      mayHave: () => true,
      open: () => Promise.resolve(readFont(readFileSync(path))),
    })),
    ...includedFiles('noto-emoji'),
  ];
}

/**
 * Lists the files of an included typeface. They have about 100 characters each, because a whole Chinese
 * typeface has 10 MB.
 */
function includedFiles(typeface: keyof typeof typefaces): FontFile[] {
  const list = typefaces[typeface];
  const files = JSON.parse(readFileSync(new URL(list), 'utf8')) as Record<string, string>;
  return Object.entries(files).map(([file, listed]): FontFile => {
    const part = file.replaceAll(/[[\]]/g, '');
    const ranges = listed.split(',').map((range) => {
      const [from, to = from] = range.slice(2).split('-');
      return [Number.parseInt(from!, 16), Number.parseInt(to!, 16)] as const;
    });
    return {
      name: `${typeface} ${part}`,
      mayHave: (point) => ranges.some(([from, to]) => point >= from && point <= to),
      async open(weight) {
        const bytes = readFileSync(new URL(`files/${typeface}-${part}-wght-normal.woff2`, list));
        const variationAxes = { wght: weights[weight] };
        return readFont(
          await subsetFont(bytes, undefined, {
            targetFormat: 'truetype',
            variationAxes,
            keepAllGlyphs: true,
          }),
        );
      },
    };
  });
}

/** Reads a TrueType or OpenType font. Of a collection, it reads the first font. */
function readFont(bytes: Buffer): Font {
  const read = create(bytes);
  return 'fonts' in read ? read.fonts[0]! : read;
}

/** A text with the name of a font for each UTF-16 unit. */
export type FontText = { readonly text: string; readonly fonts: readonly string[] };

/** Drawn for a character that no font has. The first font has it. */
const replacement = '\ufffd';
/**
 * Characters that stay in the font of the one before them, if it has them: marks, which change it there, and
 * spaces, so that words from right to left are one text for readers of the PDF.
 */
const joined = /[\p{M}\p{Emoji_Modifier}\p{Join_Control} ]/u;

/**
 * Opens the fonts of a document. Returns a function that chooses fonts for its texts.
 * @param samples all characters of the document, by weight. @param register is called with each font.
 */
export async function openFonts(
  given: {
    readonly samples: Readonly<Record<Weight, string>>;
    readonly language: string;
    readonly operatorFiles: readonly string[];
  },
  register: (name: string, font: Font) => void,
): Promise<(text: string, weight: Weight) => FontText> {
  const files = listFontFiles(given.samples.regular, given.language, given.operatorFiles);
  const opened = new Map<string, OpenFont>();
  const known = new Map<string, OpenFont>();
  for (const weight of ['regular', 'bold'] as const)
    for (const character of new Set(replacement + given.samples[weight])) {
      const point = character.codePointAt(0)!;
      for (const file of files) {
        if (!file.mayHave(point)) continue;
        const name = `${file.name} ${weight}`;
        const found = opened.get(name) ?? { name, font: await file.open(weight) };
        if (!opened.has(name)) register(name, found.font);
        opened.set(name, found);
        if (!found.font.hasGlyphForCodePoint(point)) continue;
        known.set(`${weight} ${character}`, found);
        break;
      }
    }
  return (written, weight) => {
    const fonts: string[] = [];
    let text = '';
    let last: OpenFont | undefined;
    for (const each of written) {
      // The space of emoji is as wide as an emoji.
      const isWide = each === ' ' && last?.name.startsWith('noto-emoji') === true;
      const isInLast = last?.font.hasGlyphForCodePoint(each.codePointAt(0)!) === true;
      const isJoined = joined.test(each) && isInLast && !isWide;
      // A joiner is only drawn if it has an effect.
      if (!isJoined && /\p{Join_Control}/u.test(each)) continue;
      // Marks of direction are not drawn.
      const isKept = isJoined || /\p{Bidi_Control}/u.test(each);
      const own = isKept && last ? last : known.get(`${weight} ${isKept ? replacement : each}`);
      const character = own ? each : replacement;
      last = own ?? known.get(`${weight} ${replacement}`)!;
      text += character;
      for (let unit = 0; unit < character.length; unit += 1) fonts.push(last.name);
    }
    return { text, fonts };
  };
}
