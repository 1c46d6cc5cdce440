import type { ElementDefinition } from '../types/definition.ts';
import { autofillOf } from './autofill.ts';
import { elementDefinitions } from './elements.ts';
import type { InputElement } from './tree.ts';

/**
 * Returns whether answers to an input identify a person: by its type (`identifies` in the elements table), or
 * because it has an autofill token, such as a name or address.
 */
export function identifiesPerson(input: InputElement): boolean {
  const { identifies: always }: ElementDefinition = elementDefinitions[input.type];
  const token = autofillOf(input);
  return always === true || (token !== undefined && token !== 'off' && token !== 'language');
}
