import type { ElementDefinition } from '../types/definition.ts';
import { autofillOf } from './autofill.ts';
import { elements } from './elements.ts';
import type { InputElement } from './tree.ts';

/**
 * Whether answers to an input tell who somebody is: by its type (`identifies` in the elements table), or because it asks
 * for what a browser knows of the person before it, as names and addresses.
 */
export function identifies(input: InputElement): boolean {
  const { identifies: always }: ElementDefinition = elements[input.type];
  const token = autofillOf(input);
  return always === true || (token !== undefined && token !== 'off' && token !== 'language');
}
