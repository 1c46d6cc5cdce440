/** A list that was typed, as types: in small letters, each once. */
export function readTypes(text: string): string[] {
  return [
    ...new Set(
      text
        .split(/[\s,;]+/)
        .map((type) => type.toLowerCase())
        .filter(Boolean),
    ),
  ];
}
