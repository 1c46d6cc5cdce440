/** A picture of ours that templates show: an id that stands for it until it is uploaded, and where its drawing is. */
type Picture = { readonly id: string; readonly address: string };

const drawn = (number: number, { href }: URL): Picture => ({
  id: `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`,
  address: href,
});

/** All of them. Each address is written out, so that it is found when the console is built. */
export const pictures = {
  plainWeave: drawn(1, new URL('./pictures/plain-weave.svg', import.meta.url)),
  twillWeave: drawn(2, new URL('./pictures/twill-weave.svg', import.meta.url)),
  satinWeave: drawn(3, new URL('./pictures/satin-weave.svg', import.meta.url)),
  stripes: drawn(4, new URL('./pictures/stripes.svg', import.meta.url)),
  checks: drawn(5, new URL('./pictures/checks.svg', import.meta.url)),
  herringbone: drawn(6, new URL('./pictures/herringbone.svg', import.meta.url)),
  garland: drawn(7, new URL('./pictures/garland.svg', import.meta.url)),
  fairground: drawn(8, new URL('./pictures/fairground.svg', import.meta.url)),
} as const;

const byId: ReadonlyMap<string, Picture> = new Map(
  Object.values(pictures).map((picture) => [picture.id, picture]),
);

/** Where the drawing is that an id stands for; undefined for any other id. */
export const addressOf = (id: string | undefined): string | undefined =>
  id === undefined ? undefined : byId.get(id)?.address;
