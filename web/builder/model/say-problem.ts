import type { AttributeSpecs } from '#ast/attributes.ts';
import { elements, formAttributes, isElementType, stepAttributes } from '#ast/elements.ts';
import type { EditNode } from './edit-node.ts';

/** What a part can say, by the table of the language; nothing of a type that it does not know. */
export function specsOf({ type }: Pick<EditNode, 'type'>): AttributeSpecs {
  if (type === 'form') return formAttributes;
  if (type === 'step') return stepAttributes;
  return isElementType(type) ? elements[type].attrs : {};
}

/** What the validator says in words for programs, and what it says to people; the rest is the same to both. */
const rewrites: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^A required attribute is missing: (.+)\.$/, '$1 is still missing.'],
  [
    /^Element ids must be unique: (.+) is used more than once\.$/,
    'Two parts are called $1 for programs. Rename one.',
  ],
  [/^Step ids must be unique: (.+) is used more than once\.$/, 'Two steps are called $1. Rename one.'],
  [/^“Largest file” .*$/, 'The largest file must have a size that the service takes.'],
  [/^(“[^”]+”) of (?:"[^"]*"|the \w+) /, '$1 '],
  [
    / must not have an entry (?:(\d+) )?that (?:has an? [“"]\w+[”"] that )?is blank or has line breaks/,
    ': option $1 is blank',
  ],
  [/option {2}is blank/, 'an option is blank'],
  [/ must not have an entry (\d+) that has a [“"](\w+)[”"]/, ': option $1 has a “$2”'],
  [/must not have an entry over/, 'must not have an option of more than'],
  [/must not repeat the (?:id|label) /, 'must not repeat '],
  [/\b(\d+) KB \(\d+ bytes\)/g, 'about $1,000 characters'],
  [/\brepeatable composite/g, 'repeated group'],
  [/\bComposites\b/g, 'Groups'],
  [/\bcomposite(s?)\b/g, 'group$1'],
];

/** A problem of a part in the words of its panel: its fields by their titles, and nothing that only programs ask for. */
export function sayProblem(message: string, node: EditNode | undefined): string {
  const specs = node ? specsOf(node) : {};
  const titled = message.replace(/"(\w+)"/g, (written, name: string) => {
    const title = Object.hasOwn(specs, name) ? specs[name]!.title : undefined;
    return title === undefined ? written : `“${title}”`;
  });
  return rewrites.reduce((said, [pattern, words]) => said.replace(pattern, words), titled);
}
