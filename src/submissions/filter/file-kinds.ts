/** The kinds of files in a summary, by the content type detected at upload. */
const fileKinds: readonly (readonly [pattern: string, label: string])[] = [
  ['^image/', 'Images'],
  ['^application/pdf$', 'PDF'],
  ['^video/', 'Videos'],
  ['^audio/', 'Sound'],
  ['^text/', 'Texts'],
];
const others = 'Other files';

/** Returns the kind of files of a content type. */
export const fileKindOf = (contentType: string): string =>
  fileKinds.find(([pattern]) => new RegExp(pattern).test(contentType))?.[1] ?? others;

/**
 * Returns the content type patterns of a kind of files. A file matches one of them or, if `isOther`, none.
 * Undefined for an unknown kind.
 */
export function typesOfKind(label: string): { isOther: boolean; patterns: readonly string[] } | undefined {
  const isOther = label === others;
  const patterns = fileKinds.flatMap(([pattern, called]) => (isOther || called === label ? [pattern] : []));
  return patterns.length > 0 ? { isOther, patterns } : undefined;
}
