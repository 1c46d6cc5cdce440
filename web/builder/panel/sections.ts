import type { AttributeKind, AttributeSpec, AttributeSpecs } from '#ast/attributes/attributes.ts';

/** The parts of the panel, in order. */
export const sections = ['general', 'validation', 'logic', 'id'] as const;

export type Section = (typeof sections)[number];

const ofKind: Readonly<Record<AttributeKind, Section | undefined>> = {
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
  // Said of the whole form in a view of their own.
  languages: undefined,
  translations: undefined,
  formula: 'general',
};

/**
 * The attributes of a node that are offered, by the part of the panel that shows them. The id comes last: most people never
 * need it.
 */
export function bySection(
  specs: AttributeSpecs,
  isOffered: (name: string) => boolean,
): Readonly<Record<Section, readonly [string, AttributeSpec][]>> {
  const entries = Object.entries(specs).filter(([name]) => isOffered(name));
  const of = (section: Section) => entries.filter(([name, { kind }]) => sectionOf(name, kind) === section);
  return { general: of('general'), validation: of('validation'), logic: of('logic'), id: of('id') };
}

/** What an author says about a wrong answer stands with the rules that it is about; how a number is said is no rule. */
function sectionOf(name: string, kind: AttributeKind): Section | undefined {
  if (name === 'error_message' || name === 'unique') return 'validation';
  return name === 'decimals' ? 'general' : ofKind[kind];
}
