import { type ElementCategory, type ElementType, elementDefinitions } from '#ast/form/elements.ts';
import { inputRules, isInputType } from '#ast/form/input-rules.ts';
import type { ElementDefinition } from '#ast/types/definition.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import { isPresetGroup, type PaletteEntry, type PresetGroup, presetGroups } from './new-element.ts';

type Entry = { readonly id: PaletteEntry; readonly title: string };

const titles: Readonly<Record<ElementCategory | 'choice' | 'ready', string>> = {
  input: 'Questions',
  choice: 'Choices',
  ready: 'Presets',
  composite: 'Structure',
  content: 'Text and layout',
};

/** Kinds of answers that visitors choose. Declared before the groups, which are built on load. */
const chosen: readonly AnswerKind[] = ['boolean', 'choice', 'choices'];

/** All element types in groups, in the order of the table. */
export const elementGroups: readonly { id: string; title: string; entries: readonly Entry[] }[] = (
  ['input', 'choice', 'ready', 'composite', 'content'] as const
).map((id) => ({
  id,
  title: titles[id],
  entries: (id === 'ready'
    ? (Object.keys(presetGroups) as PresetGroup[])
    : (Object.keys(elementDefinitions) as ElementType[]).filter((type) => groupOf(type) === id)
  ).map((entry) => ({ id: entry, title: titleOfPaletteEntry(entry) })),
}));

/** Returns the title, the search words and the icon of an entry. */
function rowOf(entry: PaletteEntry): { title: string; words: string; icon: string } {
  return isPresetGroup(entry) ? presetGroups[entry] : elementDefinitions[entry];
}

export function titleOfPaletteEntry(entry: PaletteEntry): string {
  return rowOf(entry).title;
}
export const iconOfPaletteEntry = (entry: PaletteEntry): string => rowOf(entry).icon;

function groupOf(type: ElementType): ElementCategory | 'choice' {
  const { group, palette }: ElementDefinition = elementDefinitions[type];
  return palette ?? (isInputType(type) && chosen.includes(inputRules[type].kind) ? 'choice' : group);
}

/** Returns the text that a search matches. */
export function searchTextOfEntry({ id, title }: Entry): string {
  return `${title} ${id} ${rowOf(id).words}`.toLowerCase();
}
