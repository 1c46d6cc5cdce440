/** A pasted list as options: a line each, without bullets and numbers, blank lines and repetitions. */
export function readOptions(text: string): string[] {
  const lines = text
    .split(/\r\n|[\r\n\t]/)
    .map((line) => line.replace(/^\s*(?:[-*•–]|\d+[.)])\s+/, '').trim());
  return [...new Set(lines.filter(Boolean))];
}

/** A new option that no other is called. */
export function nextOption(options: readonly string[]): string {
  for (let number = options.length + 1; ; number += 1) {
    const option = `Option ${number}`;
    if (!options.includes(option)) return option;
  }
}
