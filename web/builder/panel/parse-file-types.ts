/** Parses a typed list of types, in lower case and without duplicates. */
export function parseFileTypes(text: string): string[] {
  return [
    ...new Set(
      text
        .split(/[\s,;]+/)
        .map((type) => type.toLowerCase())
        .filter(Boolean),
    ),
  ];
}
