/** The typefaces that the service brings, each with its name and a description. `system` is the one of the visitor's device. */
export const fonts = {
  system: ['The device’s own', 'Nothing to load'],
  inter: ['Inter', 'Neutral and clear'],
  figtree: ['Figtree', 'Friendly, geometric'],
  nunito: ['Nunito', 'Soft and round'],
  'source-serif': ['Source Serif', 'A book’s letters'],
  fraunces: ['Fraunces', 'Warm, old style'],
  'space-grotesk': ['Space Grotesk', 'Technical, with character'],
  vazirmatn: ['Vazirmatn', 'Arabic and Latin together'],
} as const satisfies Record<string, readonly [name: string, description: string]>;

export type FontName = keyof typeof fonts;
export const fontNames = Object.keys(fonts) as readonly FontName[];
export const corners = ['sharp', 'soft', 'round'] as const;
export const densities = ['compact', 'regular', 'airy'] as const;
export const modes = ['auto', 'light', 'dark'] as const;

export type Corner = (typeof corners)[number];
export type Density = (typeof densities)[number];
export type Mode = (typeof modes)[number];

/** The keys of a theme that name a picture: each the id of an image of the workspace (src/forms/images). */
export const pictureKeys = ['logo', 'logo_dark', 'cover', 'favicon', 'social_image'] as const;
export type PictureKey = (typeof pictureKeys)[number];

/** How large a picture is, and in which widths pages may ask for it; of one that was uploaded before there were any, nothing is known. */
export type PictureSize = {
  readonly width: number;
  readonly height: number;
  readonly widths: readonly number[];
};

/** How the public page of a form looks (settings.theme). What is absent is as in a form without a theme. */
export type Theme = {
  /** The accent, `#rrggbb`: buttons, the chosen, the focus. */
  readonly color?: string;
  /** What the page lies on, `#rrggbb`; no text stands on it. */
  readonly background?: string;
  /** What the questions stand on, `#rrggbb`. */
  readonly paper?: string;
  readonly font?: FontName;
  readonly corner?: Corner;
  readonly density?: Density;
  readonly mode?: Mode;
  /** What the last button says. */
  readonly submit_label?: string;
  /** The heading of the page after a submission. */
  readonly confirmation_title?: string;
  /** Whether that page shows a short reference in place of the whole receipt (src/ast/short-reference.ts). */
  readonly short_reference?: boolean;
  /** What sites show that show a link with a title, in place of the form's name. */
  readonly social_title?: string;
} & { readonly [Key in PictureKey]?: string };
