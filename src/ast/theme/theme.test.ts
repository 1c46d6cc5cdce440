import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assert as check,
  constantFrom,
  double,
  integer,
  oneof,
  pre,
  property,
  record,
  tuple,
} from 'fast-check';
import { accentContrast, findThemeProblems, suggestColour, suggestPaper } from './check-theme.ts';
import {
  colourDistance,
  contrast,
  defaultColour,
  formatContrast,
  fromOklch,
  minColourDistance,
  minInkContrast,
  minTextContrast,
  type Palette,
  paletteOf,
  paperContrast,
  schemesOf,
  toOklch,
} from './colour.ts';
import { type Theme, themeModes } from './theme.ts';

const shades = (from: number, to: number) =>
  tuple(
    double({ min: from, max: to, noNaN: true }),
    double({ min: 0, max: 0.2, noNaN: true }),
    integer({ min: 0, max: 359 }),
  ).map(([lightness, chroma, hue]) => fromOklch({ lightness, chroma, hue }));
const colours = integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);
/** Papers that may be accepted, pale or dark in every hue, and a few random ones. */
const papers = oneof(
  { arbitrary: shades(0.85, 1), weight: 3 },
  { arbitrary: shades(0, 0.35), weight: 2 },
  { arbitrary: colours, weight: 1 },
);
const themes = record(
  { color: colours, background: colours, paper: papers, mode: constantFrom(...themeModes) },
  { requiredKeys: [] },
);

test('contrast is computed as by WCAG', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(formatContrast(contrast('#777777', '#ffffff')), '4.4:1');
  assert.equal(formatContrast(contrast('#767676', '#ffffff')), '4.5:1');
});

test('a color converted to OKLCH and back is unchanged', () => {
  check(property(colours, (colour) => assert.equal(fromOklch(toOklch(colour)), colour)));
});

test("a color outside the screen's gamut keeps its lightness and hue, and loses chroma", () => {
  for (let hue = -180; hue < 180; hue += 5)
    for (const lightness of [0.5, 0.6, 0.7]) {
      const shown = toOklch(fromOklch({ lightness, chroma: 0.35, hue }));
      assert.ok(Math.abs(shown.lightness - lightness) < 0.01, `${hue}: ${shown.lightness}`);
      const turned = Math.abs(shown.hue - hue);
      assert.ok(Math.min(turned, 360 - turned) < 2, `${hue}: ${shown.hue}`);
    }
});

/**
 * Foreground and background pairs with their minimum contrast: text 4.5, edges and focus 3 (WCAG 2.2, 1.4.3
 * and 1.4.11).
 */
const pairs: readonly [keyof Palette, keyof Palette, number][] = [
  ['ink', 'paper', 7],
  ['ink', 'tint', 7],
  ['soft', 'paper', 4.5],
  ['soft', 'tint', 4.5],
  ['accent', 'paper', 4.5],
  ['on-accent', 'accent', 4.5],
  ['on-accent', 'deep', 4.5],
  ['bad', 'paper', 4.5],
  ['bad', 'bad-tint', 4.5],
  ['edge', 'paper', 3],
  ['edge', 'tint', 3],
  ['accent', 'tint', 3],
];

test('every color pair of every accepted theme is readable, light and dark', () => {
  check(
    property(themes, (theme) => {
      pre(findThemeProblems(theme).length === 0);
      for (const scheme of schemesOf(theme)) {
        const palette = paletteOf(theme, scheme);
        for (const [text, ground, least] of pairs)
          assert.ok(
            contrast(palette[text], palette[ground]) >= least,
            `${text} on ${ground}, ${scheme}: ${JSON.stringify(palette)}`,
          );
      }
    }),
  );
});

test('the error color differs from every accent, in distance or in contrast', () => {
  const isPlain = ({ bad, accent }: Palette): boolean =>
    colourDistance(bad, accent) >= minColourDistance || contrast(bad, accent) >= 1.5;
  check(
    property(themes, (theme) => {
      pre(findThemeProblems(theme).length === 0);
      for (const scheme of schemesOf(theme)) {
        const palette = paletteOf(theme, scheme);
        assert.ok(isPlain(palette), `${scheme}: ${palette.bad} beside ${palette.accent}`);
      }
    }),
  );
  // Random colors contain few reds.
  for (const color of [
    '#b3261e',
    '#c8102e',
    '#e4002b',
    '#a6192e',
    '#db1c22',
    '#6f0e0f',
    '#8b0000',
    '#d6001c',
  ])
    for (const scheme of schemesOf({ color })) {
      const palette = paletteOf({ color }, scheme);
      assert.ok(isPlain(palette), `${scheme}: ${palette.bad} beside ${palette.accent}`);
    }
});

test('a color is rejected exactly if its contrast is below 4.5:1, with the ratio and an acceptable shade', () => {
  check(
    property(themes, (theme: Theme) => {
      pre(theme.paper === undefined || paperContrast(theme) >= minInkContrast);
      const { ratio } = accentContrast(theme);
      const [problem] = findThemeProblems(theme);
      assert.equal(problem === undefined, ratio >= minTextContrast);
      if (!problem) return;
      assert.equal(problem.field, 'theme.color');
      assert.ok(problem.message.includes(formatContrast(ratio)));
      assert.deepEqual(findThemeProblems({ ...theme, color: suggestColour(theme) }), []);
    }),
  );
});

test('a paper is rejected exactly if text on it has less than 10:1, with the ratio and an acceptable shade', () => {
  const papered = record({ paper: papers, mode: constantFrom(...themeModes) }, { requiredKeys: ['paper'] });
  check(
    property(papered, (theme: Theme) => {
      const problem = findThemeProblems(theme).find(({ field }) => field === 'theme.paper');
      assert.equal(problem === undefined, paperContrast(theme) >= minInkContrast);
      if (!problem) return;
      assert.ok(problem.message.includes(formatContrast(paperContrast(theme))));
      const better = { ...theme, paper: suggestPaper(theme) };
      assert.deepEqual(
        findThemeProblems(better).filter(({ field }) => field === 'theme.paper'),
        [],
      );
    }),
  );
  assert.deepEqual(findThemeProblems({ paper: '#fdf6e3' }), []);
  assert.deepEqual(findThemeProblems({ paper: '#0f172a', mode: 'dark' }), []);
  assert.equal(paletteOf({ paper: '#fdf6e3' }, 'light').paper, '#fdf6e3');
});

test('the suggested shade keeps the hue, and is no lighter or darker than needed', () => {
  assert.equal(suggestPaper({ paper: '#e8b04a' }), '#ffcb71');
  assert.equal(suggestPaper({ paper: '#204a30', mode: 'dark' }), '#023017');
  assert.equal(suggestColour({ color: '#ffd400' }), '#8b7300');
  assert.equal(suggestColour({ color: '#001f5b', mode: 'dark' }), '#81abf3');
});

test("the error color is red beside an accent that is not, and a pressed button moves away from the paper's lightness", () => {
  assert.equal(paletteOf({}, 'light').bad, '#b3261e');
  const moves = ([theme, scheme]: readonly [Theme, 'light' | 'dark']): number => {
    const { accent, deep } = paletteOf(theme, scheme);
    return Math.sign(toOklch(deep).lightness - toOklch(accent).lightness);
  };
  // A nearly black color can only become lighter.
  assert.deepEqual(
    (
      [
        [{}, 'light'],
        [{}, 'dark'],
        [{ color: '#111111' }, 'light'],
      ] as const
    ).map(moves),
    [-1, 1, 1],
  );
});

test('the color of a theme is shown as chosen', () => {
  assert.equal(paletteOf({ color: '#7a1f8a' }, 'light').accent, '#7a1f8a');
  assert.equal(paletteOf({ color: '#e0aaff', mode: 'dark' }, 'dark').accent, '#e0aaff');
  assert.equal(paletteOf({}, 'light').accent, defaultColour);
});

const wrong: Readonly<Record<string, [theme: unknown, field: string]>> = {
  'a text': ['blue', 'theme'],
  'a list': [[], 'theme'],
  'a colour by its name': [{ color: 'red' }, 'theme.color'],
  'a colour that would end the style sheet': [{ background: '#fff}</style>' }, 'theme.background'],
  'a face that is not there': [{ font: 'Comic Sans' }, 'theme.font'],
  'a corner of its own': [{ corner: '3px' }, 'theme.corner'],
  'a density of its own': [{ density: 'tight' }, 'theme.density'],
  'a mode of its own': [{ mode: 'sepia' }, 'theme.mode'],
  'an address as logo': [{ logo: 'https://example.com/a.png' }, 'theme.logo'],
  'yellow text on white': [{ color: '#ffd400' }, 'theme.color'],
  'navy text on a dark page': [{ color: '#001f5b', mode: 'dark' }, 'theme.color'],
  'a paper on which dark text cannot be read': [{ paper: '#7a7a7a' }, 'theme.paper'],
  'a dark paper on a light page': [{ paper: '#0f172a' }, 'theme.paper'],
  'a label of two lines': [{ submit_label: 'Send\nit' }, 'theme.submit_label'],
  'a label that says nothing': [{ submit_label: ' ' }, 'theme.submit_label'],
  'a label with half a character': [{ submit_label: 'Send \ud800' }, 'theme.submit_label'],
  'a title that is too long': [{ confirmation_title: 'x'.repeat(1_025) }, 'theme.confirmation_title'],
  'a title that is no text': [{ social_title: 5 }, 'theme.social_title'],
  'a short reference by word': [{ short_reference: 'yes' }, 'theme.short_reference'],
  'an address as favicon': [{ favicon: '/favicon.ico' }, 'theme.favicon'],
  'an address as dark logo': [{ logo_dark: '/dark.png' }, 'theme.logo_dark'],
  'an address as picture of links': [{ social_image: '/a.png' }, 'theme.social_image'],
  'a key that it does not have': [{ shadow: true }, 'theme'],
  'a key of every object': [{ constructor: 'x' }, 'theme'],
};
for (const [what, [theme, field]] of Object.entries(wrong)) {
  test(`not a theme: ${what}`, () => {
    assert.deepEqual(
      findThemeProblems(theme).map((problem) => problem.field),
      [field],
    );
  });
}
