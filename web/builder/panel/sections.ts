import type { AttributeKind, AttributeSpec, AttributeSpecs } from '#ast/attributes/attributes.ts';

/** The sections of the panel, in order. */
export const panelSections = ['general', 'quiz', 'validation', 'logic', 'id'] as const;

export type PanelSectionName = (typeof panelSections)[number];

const ofKind: Readonly<Record<AttributeKind, PanelSectionName | undefined>> = {
  id: 'id',
  string: 'general',
  boolean: 'general',
  integer: 'general',
  options: 'general',
  'one-of': 'general',
  count: 'validation',
  bytes: 'validation',
  number: 'validation',
  moment: 'validation',
  pattern: 'validation',
  'file-types': 'validation',
  image: 'general',
  condition: 'logic',
  jumps: 'logic',
  // The languages are edited for the whole form in a separate view.
  languages: undefined,
  translations: undefined,
  formula: 'general',
  correct: 'quiz',
};

/**
 * Groups the editable attributes of a node by section. The id comes last, because most people never need it.
 */
export function groupAttributesBySection(
  specs: AttributeSpecs,
  isOffered: (name: string) => boolean,
): Readonly<Record<PanelSectionName, readonly [string, AttributeSpec][]>> {
  const entries = Object.entries(specs).filter(([name]) => isOffered(name));
  const of = (section: PanelSectionName) =>
    entries.filter(([name, { kind }]) => sectionOf(name, kind) === section);
  return {
    general: of('general'),
    quiz: of('quiz'),
    validation: of('validation'),
    logic: of('logic'),
    id: of('id'),
  };
}

/**
 * Returns the section of an attribute. The rule and the error message belong to the validation; number
 * formatting and pass marks do not.
 */
function sectionOf(name: string, kind: AttributeKind): PanelSectionName | undefined {
  if (name === 'error_message' || name === 'unique' || name === 'valid_when') return 'validation';
  if (name === 'points' || name === 'explanation') return 'quiz';
  return name === 'decimals' || name === 'pass_mark' ? 'general' : ofKind[kind];
}
