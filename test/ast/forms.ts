import type { AttributeKind, AttributeSpecs } from '#ast/attributes/attributes.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import { elementDefinitions, isElementType } from '#ast/form/elements.ts';
import type { Form, FormNode } from '#ast/form/tree.ts';
import type { EvaluationContext } from '#ast/logic/evaluate.ts';
import { type StructureError, validateStructure } from '#ast/validate.ts';

/** Small forms for tests of all rooms. Product code does not import this file. */

/** Sample values of required attributes, by kind of attribute. */
const needed: Partial<Record<AttributeKind, (name: string) => unknown>> = {
  string: (name) => `Its ${name}`,
  options: (name) => (name === 'rows' ? ['Tea', 'Coffee'] : ['Red', 'Green', 'Blue']),
  image: () => '00000000-0000-7000-8000-000000000000',
  formula: () => '1',
};

/** Returns an element with all required attributes. Selections get the options Red, Green and Blue. */
export function element(type: string, id: string, attrs: Record<string, unknown> = {}): FormNode {
  const specs: AttributeSpecs = isElementType(type) ? elementDefinitions[type].attrs : {};
  const rest = Object.entries(specs).flatMap(([name, spec]) =>
    spec.required && needed[spec.kind] ? [[name, needed[spec.kind]!(name)] as const] : [],
  );
  return { type, attrs: { ...Object.fromEntries(rest), id, label: `The ${id}`, ...attrs }, children: [] };
}

export function composite(id: string, children: unknown[], attrs: Record<string, unknown> = {}): FormNode {
  return { type: 'composite', attrs: { id, label: `The ${id}`, ...attrs }, children: children as FormNode[] };
}

/** Returns a form with one step. */
export function structure(...children: unknown[]): FormNode {
  const step = { type: 'step', attrs: { title: 'One' }, children: children as FormNode[] };
  return { type: 'form', attrs: { name: 'Contact' }, children: [step] };
}

/**
 * Returns a form with several steps. The arguments alternate: the attributes of a step, then its elements.
 */
export function stepsOf(...parts: (Record<string, unknown> | readonly unknown[])[]): FormNode {
  const children = Array.from({ length: parts.length / 2 }, (_, index) => ({
    type: 'step',
    attrs: parts[2 * index] as Record<string, unknown>,
    children: parts[2 * index + 1] as FormNode[],
  }));
  return { type: 'form', attrs: { name: 'Contact' }, children };
}

/** Returns a valid form with several steps, with arguments like `stepsOf`. */
export function formOfSteps(...parts: Parameters<typeof stepsOf>): Form {
  return validForm(stepsOf(...parts));
}

/** Returns a valid form with one step, or throws its problems. */
export function formOf(...children: FormNode[]): Form {
  return validForm(structure(...children));
}

function validForm(node: FormNode): Form {
  const result = validateStructure(node);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.form;
}

/** Returns the problems of a structure without their codes (`codesOf`), or an empty list if it is valid. */
export function problemsOf(input: unknown): readonly Omit<StructureError, 'code'>[] {
  const result = validateStructure(input);
  if (result.ok) return [];
  return result.errors.map(({ message, path, field }) => ({
    message,
    path,
    ...(field !== undefined && { field }),
  }));
}

/** Returns the codes of the problems of a structure. */
export function codesOf(input: unknown): readonly string[] {
  const result = validateStructure(input);
  return result.ok ? [] : result.errors.map(({ code }) => code);
}

/**
 * An answer context without reference data, on 31 January 2026. Each read of `work` returns the budget of one
 * request.
 */
export const context: EvaluationContext = {
  reference: {},
  today: '2026-01-31',
  get work() {
    return createWorkBudget();
  },
};
