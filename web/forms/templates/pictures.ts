/** The drawings that templates show, by the id that stands for each until it is uploaded. */
const addresses: ReadonlyMap<string, string> = new Map(
  // Each address is written out, so that the build of the console finds it.
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

/** Returns where the drawing is that an id stands for; undefined for any other id. */
export const addressOf = (id: string | undefined): string | undefined =>
  id === undefined ? undefined : addresses.get(id);
