import type { ElementDefinition } from '../types/definition.ts';
import { autofillOf } from './autofill.ts';
import { elementDefinitions } from './elements.ts';
import type { InputElement } from './tree.ts';

/** Words for a name in the languages of public pages, at the end of a word or alone. */
const nameWords =
  /(?:name|naam)s?(?!\p{L})|(?<!\p{L})(?:nom|prénom|nombre|apellidos?|nome|sobrenome|apelido)(?!\p{L})|氏名|名前|姓名|名字|اسم/iu;

/** Returns whether the ID or the label of a short text asks for a name, perhaps that of a person. */
export const asksForName = ({ type, attrs }: InputElement): boolean =>
  type === 'text' && (nameWords.test(attrs.id) || nameWords.test(attrs.label));

/**
 * Returns whether answers to an input identify a person: by its type (`identifies` in the elements table), or
 * because it has an autofill token, such as a name or address.
 */
export function identifiesPerson(input: InputElement): boolean {
  const { identifies: always }: ElementDefinition = elementDefinitions[input.type];
  const token = autofillOf(input);
  return always === true || (token !== undefined && token !== 'off' && token !== 'language');
}
