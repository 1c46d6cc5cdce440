/** The drawings of the templates, by the placeholder id used until each is uploaded. */
const addresses: ReadonlyMap<string, string> = new Map(
  // Each URL is written out, so that the console's build finds it.
  [
    new URL('./pictures/plain-weave.svg', import.meta.url),
    new URL('./pictures/twill-weave.svg', import.meta.url),
    new URL('./pictures/satin-weave.svg', import.meta.url),
    new URL('./pictures/stripes.svg', import.meta.url),
    new URL('./pictures/checks.svg', import.meta.url),
    new URL('./pictures/herringbone.svg', import.meta.url),
    new URL('./pictures/garland.svg', import.meta.url),
    new URL('./pictures/fairground.svg', import.meta.url),
  ].map(({ href }, index) => [`00000000-0000-0000-0000-${String(index + 1).padStart(12, '0')}`, href]),
);

/** Returns the URL of the drawing with a placeholder id. Undefined for any other id. */
export const drawingUrl = (id: string | undefined): string | undefined =>
  id === undefined ? undefined : addresses.get(id);
