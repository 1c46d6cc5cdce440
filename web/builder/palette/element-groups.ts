import { type ElementGroup, elements, type ElementType } from '#ast/elements.ts';

type ElementEntry = { readonly id: ElementType; readonly title: string };

const titles: Readonly<Record<ElementGroup | 'choice', string>> = {
  input: 'Questions',
  choice: 'Choices',
  composite: 'Structure',
  content: 'Text and layout',
};

/** Words that people look for an element by, beside its title. */
const otherWords: { readonly [Type in ElementType]?: string } = {
  text: 'input string name line',
  textarea: 'message comment multi-line',
  phone: 'telephone mobile',
  url: 'link website',
  number: 'integer decimal amount',
  dropdown: 'select list',
  radio: 'option buttons',
  multiple_choice: 'checkbox boxes several',
  yes_no: 'boolean consent switch',
  file_upload: 'attachment document image',
  heading: 'title',
  paragraph: 'text description',
  divider: 'line separator',
  composite: 'section columns grid row repeat',
};

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
  return 'options' in elements[type].attrs || type === 'yes_no' ? 'choice' : elements[type].group;
}

/** What a search looks in. */
export function searchWords({ id, title }: ElementEntry): string {
  return `${title} ${id} ${otherWords[id] ?? ''}`.toLowerCase();
}
