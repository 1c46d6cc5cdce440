import { type ElementGroup, elements, type ElementType } from '#ast/elements.ts';
import { inputRules, isInputType } from '#ast/input-rules.ts';
import type { ElementDefinition } from '#ast/types/definition.ts';
import type { AnswerKind } from '#ast/types/rules.ts';

type ElementEntry = { readonly id: ElementType; readonly title: string };

const titles: Readonly<Record<ElementGroup | 'choice', string>> = {
  input: 'Questions',
  choice: 'Choices',
  composite: 'Structure',
  content: 'Text and layout',
};

/** The kinds of answer that are chosen. Before the groups, which are made when this is loaded. */
const chosen: readonly AnswerKind[] = ['boolean', 'choice', 'choices'];

/** All element types in groups, in the order of the table. */
export const elementGroups: readonly { id: string; title: string; entries: readonly ElementEntry[] }[] = (
  ['input', 'choice', 'composite', 'content'] as const
).map((id) => ({
  id,
  title: titles[id],
  entries: (Object.keys(elements) as ElementType[])
    .filter((type) => groupOf(type) === id)
    .map((type) => ({ id: type, title: elements[type].title })),
}));

function groupOf(type: ElementType): ElementGroup | 'choice' {
  const { group, palette }: ElementDefinition = elements[type];
  return palette ?? (isInputType(type) && chosen.includes(inputRules[type].kind) ? 'choice' : group);
}

/** What a search looks in. */
export function searchWords({ id, title }: ElementEntry): string {
  return `${title} ${id} ${elements[id].words}`.toLowerCase();
}
