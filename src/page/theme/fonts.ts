import type { FontName } from '#ast/theme/theme.ts';

/** The subsets of a font, so that a visitor loads only the characters of the page. */
export type Subset = 'latin' | 'latin-ext' | 'vietnamese' | 'cyrillic' | 'greek' | 'arabic';

export type Face = {
  /** The npm package @fontsource-variable/<source>. Its file names begin with this name. */
  readonly source: string;
  readonly weights: string;
  /** The fallback while the font loads, and for missing characters. */
  readonly fallback: 'sans' | 'serif';
  /** Heights above and below the baseline, relative to the font size. */
  readonly ascent: number;
  readonly descent: number;
  /** The mean widths at weights 400 and 600, relative to the fallback's regular and bold (Arial or Times). */
  readonly widths: readonly [regular: number, bold: number];
  /**
   * The first digits of each file's SHA-256, so that the URL changes with the content. A test compares them
   * with the files.
   */
  readonly files: Readonly<Partial<Record<Subset, string>>>;
};

/** The built-in fonts, all under the SIL Open Font License. */
export const faces = {
  inter: {
    source: 'inter',
    weights: '100 900',
    fallback: 'sans',
    ascent: 0.969,
    descent: 0.241,
    widths: [1.065, 1.013],
    files: {
      latin: '3100e775e8',
      'latin-ext': '34b9c504ca',
      vietnamese: '5c66f9e07e',
      cyrillic: '71d5ee93cc',
      greek: '1be3448e29',
    },
  },
  figtree: {
    source: 'figtree',
    weights: '300 900',
    fallback: 'sans',
    ascent: 0.95,
    descent: 0.25,
    widths: [0.995, 0.946],
    files: { latin: '4ba7d3d096', 'latin-ext': 'bf7828e2c2' },
  },
  nunito: {
    source: 'nunito',
    weights: '200 1000',
    fallback: 'sans',
    ascent: 1.011,
    descent: 0.353,
    widths: [1.005, 0.955],
    files: {
      latin: 'ba344451ea',
      'latin-ext': '2c8d792869',
      vietnamese: '61e5958cf3',
      cyrillic: '63b14e3ef0',
    },
  },
  'source-serif': {
    source: 'source-serif-4',
    weights: '200 900',
    fallback: 'serif',
    ascent: 1.036,
    descent: 0.335,
    widths: [1.18, 1.127],
    files: {
      latin: '382475f382',
      'latin-ext': 'd10ccbbd0d',
      vietnamese: 'c3de01b514',
      cyrillic: 'a81082707b',
      greek: '54c4728aa0',
    },
  },
  fraunces: {
    source: 'fraunces',
    weights: '100 900',
    fallback: 'serif',
    ascent: 0.978,
    descent: 0.255,
    widths: [1.154, 1.121],
    files: { latin: '7f9d191d99', 'latin-ext': 'a21ecfbf41', vietnamese: 'ce7b18aac7' },
  },
  'space-grotesk': {
    source: 'space-grotesk',
    weights: '300 700',
    fallback: 'sans',
    ascent: 0.984,
    descent: 0.292,
    widths: [1.085, 1.014],
    files: { latin: '0640890476', 'latin-ext': '952dddb45d', vietnamese: '8895e3d498' },
  },
  vazirmatn: {
    source: 'vazirmatn',
    weights: '100 900',
    fallback: 'sans',
    ascent: 1.025,
    descent: 0.537,
    widths: [0.999, 0.939],
    files: { arabic: '84a382e46c', latin: 'd29c041cd4', 'latin-ext': '21529facfd' },
  },
} as const satisfies Record<Exclude<FontName, 'system'>, Face>;

export type FaceName = keyof typeof faces;

/** Returns the URL of a subset's file (theme/routes.ts); undefined if the font does not have the subset. */
export function fontAddress(name: FaceName, subset: Subset): string | undefined {
  const file = fileName(name, subset);
  return file && `/f/fonts/${file}`;
}

function fileName(name: FaceName, subset: Subset): string | undefined {
  const files: Face['files'] = faces[name].files;
  const hash = files[subset];
  return hash && `${name}-${subset}-${hash}.woff2`;
}

/** Lists every font file: its served name, and its path in the npm package, which only the build needs. */
export const fontFiles = (): { fileName: string; source: string }[] =>
  (Object.keys(faces) as FaceName[]).flatMap((name) => {
    const { source, files }: Face = faces[name];
    return (Object.keys(files) as Subset[]).map((subset) => ({
      fileName: fileName(name, subset)!,
      source: `@fontsource-variable/${source}/files/${source}-${subset}-wght-normal.woff2`,
    }));
  });
