import type { AttributeKind } from '#ast/attributes/attributes.ts';
import { getProperty } from '#ast/basics/json.ts';
import type { ReferencedElement } from './imported-conditions.ts';
import type { Texts } from './imported-texts.ts';
import { addNode, attributeSpecsOf, createNode, type Sketch, type SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';

/** The context that an importer needs to read an element. */
export type FormImportContext = {
  readonly sketch: Sketch;
  readonly texts: Texts;
  /** Elements by the names that conditions use for them. */
  readonly named: Map<string, ReferencedElement>;
};

/**
 * The source of an attribute: a path, whose value is read according to the attribute's kind, or a function.
 */
type From = string | ((part: SourcePart) => unknown);
type AttributeMappings = Readonly<Record<string, From>>;

/** A row of a service's table: how an element of the service becomes one of ours. */
export type ElementMapping<R extends FormImportContext = FormImportContext> = {
  readonly type: string | ((part: SourcePart) => string);
  readonly attrs?: AttributeMappings;
  /** Paths that are left out, with the reason. A value of `false` loses nothing. */
  readonly lost?: Readonly<Record<string, string>>;
  /** Handles what a table cannot express. @returns why the element is not supported, if so. */
  readonly finish?: (part: SourcePart, node: SketchNode, reading: R) => string | undefined | void;
};

export type ElementMappings<R extends FormImportContext = FormImportContext> = Readonly<
  Record<string, ElementMapping<R>>
>;

/** Reasons shared by several services. */
export const leftOutReasons = {
  elsewhere: 'Another service hosts it. Upload it in the builder.',
  ordered: 'Options appear in the order of the form, or shuffled.',
  otherText: 'The page has its own label for it.',
  stars: 'It is shown as stars.',
  off: 'It is turned off.',
  jump: 'This jump is not supported. Add another one in the builder.',
  condition: 'This condition is not supported.',
  pictures: 'Upload its pictures in the builder.',
  noneAlone: 'Choosing “None” does not clear the other choices.',
  rule: 'This rule is not supported.',
  variable: 'Variables are not supported. Add a calculation in the builder.',
} as const;

/**
 * Creates the element that a row of a table describes. `common`: attributes of every element of the service.
 * @returns the element, or why there is none.
 */
export function createMappedElement<R extends FormImportContext>(
  table: ElementMappings<R>,
  type: string,
  part: SourcePart,
  reading: R,
  common: Pick<ElementMapping, 'attrs' | 'lost'> = {},
): SketchNode | string {
  const row = getProperty(table, type);
  if (!row) return `No element type matches "${type.slice(0, 40)}".`;
  const node = createNode(typeof row.type === 'string' ? row.type : row.type(part));
  setAttributes(node, part, { ...common.attrs, ...row.attrs }, reading.texts);
  for (const [path, why] of Object.entries({ ...common.lost, ...row.lost })) part.leaveOutIf(path, why);
  const why = row.finish?.(part, node, reading);
  if (why !== undefined) return why;
  if (attributeSpecsOf(node.type)['label']?.required) node.attrs['label'] ??= 'Untitled';
  return node;
}

/** Sets the attributes that the type supports. Other paths are not read, so the report lists them. */
export function setAttributes(
  node: SketchNode,
  part: SourcePart,
  attributes: AttributeMappings,
  texts: Texts,
): void {
  for (const [name, from] of Object.entries(attributes)) {
    const kind = getProperty(attributeSpecsOf(node.type), name)?.kind;
    if (kind === undefined) continue;
    if (kind === 'string' && typeof from === 'string') {
      texts.set(node, name, part.part(from));
      continue;
    }
    const value = typeof from === 'string' ? readAs(kind, part, from) : from(part);
    if (value !== undefined) node.attrs[name] = value;
  }
}

function readAs(kind: AttributeKind, part: SourcePart, path: string): string | number | true | undefined {
  if (kind === 'boolean') return part.flag(path) || undefined;
  return numeric.has(kind) ? part.number(path) : part.text(path) || undefined;
}

const numeric: ReadonlySet<AttributeKind> = new Set(['integer', 'number', 'count', 'bytes']);

/** Puts the description of a group above its elements, because a composite has no description. */
export function addGroupDescription(
  part: SourcePart,
  node: SketchNode,
  { sketch, texts }: FormImportContext,
): void {
  const paragraph = createNode('paragraph');
  texts.set(paragraph, 'label', part);
  if (paragraph.attrs['label'] !== undefined) addNode(sketch, node, paragraph, part);
}

/** Maps a word of the service to one of ours. `why`: the report message for any other word. */
export const mapWord =
  (path: string, words: Readonly<Record<string, string | undefined>>, why: string) =>
  (part: SourcePart): string | undefined => {
    const word = part.text(path);
    if (word !== undefined && !Object.hasOwn(words, word)) part.part(path).change(why);
    return word === undefined ? undefined : getProperty(words, word);
  };

export const readPositive =
  (path: string) =>
  (part: SourcePart): number | undefined => {
    const number = part.number(path) ?? 0;
    return number > 0 ? number : undefined;
  };

export const readNumberOr =
  (path: string, usual: number) =>
  (part: SourcePart): number =>
    part.number(path) ?? usual;

/** Reads a number, unless its flag turns it off. */
export const readFlaggedLimit =
  (path: string, flag: string) =>
  (part: SourcePart): number | undefined => {
    const isOff = part.flag(flag) === false;
    if (isOff) part.part(path).leaveOut(leftOutReasons.off);
    return isOff ? undefined : part.number(path);
  };
