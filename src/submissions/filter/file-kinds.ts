/** Kinds of files as a summary calls them, by the content type that was recognised when they came. */
const fileKinds: readonly (readonly [pattern: string, label: string])[] = [
  ['^image/', 'Images'],
  ['^application/pdf$', 'PDF'],
  ['^video/', 'Videos'],
  ['^audio/', 'Sound'],
  ['^text/', 'Texts'],
];
const others = 'Other files';

/** What a file of this content type is called. */
export const fileKindOf = (contentType: string): string =>
  fileKinds.find(([pattern]) => new RegExp(pattern).test(contentType))?.[1] ?? others;

/** The patterns of the content types that are called so, one of which they meet, or none (`isOther`); undefined where nothing is. */
export function typesOfKind(label: string): { isOther: boolean; patterns: readonly string[] } | undefined {
  const isOther = label === others;
  const patterns = fileKinds.flatMap(([pattern, called]) => (isOther || called === label ? [pattern] : []));
  return patterns.length > 0 ? { isOther, patterns } : undefined;
}
