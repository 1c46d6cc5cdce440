import type { Form, FormNode } from './tree.ts';
import { type StructureError, validateStructure } from './validate.ts';

/** Small forms for tests, here and in the rooms above. Product code does not import this file. */

/** An element that lacks nothing: selections get the options Red, Green and Blue. */
export function element(type: string, id: string, attrs: Record<string, unknown> = {}): FormNode {
  const isSelection = ['dropdown', 'radio', 'multiple_choice'].includes(type);
  const options = isSelection ? { options: ['Red', 'Green', 'Blue'] } : {};
  return { type, attrs: { id, label: `The ${id}`, ...options, ...attrs }, children: [] };
}

export function composite(id: string, children: unknown[], attrs: Record<string, unknown> = {}): FormNode {
  return { type: 'composite', attrs: { id, label: `The ${id}`, ...attrs }, children: children as FormNode[] };
}

/** A form of one step. */
export function structure(...children: unknown[]): FormNode {
  const step = { type: 'step', attrs: { title: 'One' }, children: children as FormNode[] };
  return { type: 'form', attrs: { name: 'Contact' }, children: [step] };
}

/** A valid form of one step; throws with the problems when it is not valid. */
export function formOf(...children: FormNode[]): Form {
  const result = validateStructure(structure(...children));
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.form;
}

/** The problems of a structure; empty when it is valid. */
export function problemsOf(input: unknown): readonly StructureError[] {
  const result = validateStructure(input);
  return result.ok ? [] : result.errors;
}
