/** The faces that the service brings along; `system` is whatever the visitor's device has. */
export const fontNames = [
  'system',
  'inter',
  'figtree',
  'nunito',
  'source-serif',
  'fraunces',
  'space-grotesk',
  'vazirmatn',
] as const;
export const corners = ['sharp', 'soft', 'round'] as const;
export const densities = ['compact', 'regular', 'airy'] as const;
export const modes = ['auto', 'light', 'dark'] as const;

export type FontName = (typeof fontNames)[number];
export type Corner = (typeof corners)[number];
export type Density = (typeof densities)[number];
export type Mode = (typeof modes)[number];

/** How the public page of a form looks (settings.theme). What is absent is as in a form without a theme. */
export type Theme = {
  /** The accent, `#rrggbb`: buttons, the chosen, the focus. */
  readonly color?: string;
  /** What the page lies on, `#rrggbb`; no text stands on it. */
  readonly background?: string;
  readonly font?: FontName;
  readonly corner?: Corner;
  readonly density?: Density;
  readonly mode?: Mode;
  /** Ids of images of the form (src/forms/images). */
  readonly logo?: string;
  readonly cover?: string;
};
