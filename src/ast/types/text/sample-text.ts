/** Topics of short texts, by words in their ID and label. The first match wins. */
const topics: readonly (readonly [RegExp, string])[] = [
  [/\b(first|given)[ _-]?name\b/i, 'Ada'],
  [/\b(last|family|sur)[ _-]?name\b/i, 'Lovelace'],
  [/\b(company|organi[sz]ation|employer)\b/i, 'Analytical Engines'],
  [/\b(name|who)\b/i, 'Ada Lovelace'],
  [/\b(city|town)\b/i, 'London'],
  [/\bcountry\b/i, 'United Kingdom'],
  [/\b(zip|post(al)?[ _-]?code|postcode)\b/i, 'SW1Y 4JH'],
  [/\b(street|address)\b/i, '12 St James’s Square'],
  [/\b(subject|topic|title)\b/i, 'A question about your service'],
];

/** Returns a sample answer for these words. Underscores and camelCase of IDs are split into words. */
export function sampleText(words: string): string {
  const spaced = words.replaceAll('_', ' ').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return topics.find(([pattern]) => pattern.test(spaced))?.[1] ?? 'Sample answer';
}
