/**
 * The typefaces that are included, each with its name and a description. `system` is the typeface of the
 * visitor's device.
 */
export const fonts = {
  system: ['System font', 'Nothing to load'],
  inter: ['Inter', 'Neutral and clear'],
  figtree: ['Figtree', 'Friendly, geometric'],
  nunito: ['Nunito', 'Soft and round'],
  'source-serif': ['Source Serif', 'Like a printed book'],
  fraunces: ['Fraunces', 'Warm, old style'],
  'space-grotesk': ['Space Grotesk', 'Technical, with character'],
  vazirmatn: ['Vazirmatn', 'Arabic and Latin together'],
} as const satisfies Record<string, readonly [name: string, description: string]>;

export type FontName = keyof typeof fonts;
export const fontNames = Object.keys(fonts) as readonly FontName[];
export const corners = ['sharp', 'soft', 'round'] as const;
export const densities = ['compact', 'regular', 'airy'] as const;
export const themeModes = ['auto', 'light', 'dark'] as const;

export type Corner = (typeof corners)[number];
export type Density = (typeof densities)[number];
export type ThemeMode = (typeof themeModes)[number];

/** The theme keys with the ID of a workspace image (src/forms/images). */
export const themeImageKeys = ['logo', 'logo_dark', 'cover', 'favicon', 'social_image'] as const;
export type ThemeImageKey = (typeof themeImageKeys)[number];

/** The size of an image, and the widths at which pages can request it. Unknown for older uploads. */
export type ImageSize = {
  readonly width: number;
  readonly height: number;
  readonly widths: readonly number[];
};

/** The look of a form's public page (settings.theme). Absent keys have their default. */
export type Theme = {
  /** The accent, `#rrggbb`: buttons, selected options, focus. */
  readonly color?: string;
  /** The page background, `#rrggbb`, without text on it. */
  readonly background?: string;
  /** The background of the questions, `#rrggbb`. */
  readonly paper?: string;
  readonly font?: FontName;
  readonly corner?: Corner;
  readonly density?: Density;
  readonly mode?: ThemeMode;
  /** The label of the submit button. */
  readonly submit_label?: string;
  /** The heading of the page after a submission. */
  readonly confirmation_title?: string;
  /**
   * Whether that page shows a short reference instead of the full submission ID (src/ast/short-reference.ts).
   */
  readonly short_reference?: boolean;
  /** The title of link previews, instead of the form's name. */
  readonly social_title?: string;
} & { readonly [Key in ThemeImageKey]?: string };
