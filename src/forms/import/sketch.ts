import type { AttributeSpecs } from '#ast/attributes/attributes.ts';
import type { Condition, Jump } from '#ast/basics/condition.ts';
import { isElementId } from '#ast/basics/element-id.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { elementDefinitions, formAttributes, isElementType, stepAttributes } from '#ast/form/elements.ts';
import type { SourcePart } from './source.ts';

/** A node of a form that is being built. `finishSketch` finds its problems. */
export type SketchNode = { type: string; attrs: Record<string, unknown>; children: SketchNode[] };

/** A form that is being built from a document, with its settings and the source part of each node. */
export type Sketch = {
  readonly form: SketchNode;
  readonly settings: Record<string, unknown>;
  readonly origins: Map<SketchNode, SourcePart>;
  /**
   * Returns an id for an element or a step: the preferred one if it is a valid id, otherwise one made from
   * the words.
   */
  readonly newId: (preferred: string | undefined, words?: string) => string;
};

export function newSketch(): Sketch {
  const taken = new Set<string>(['end']);
  const counts = new Map<string, number>();
  return {
    form: createNode('form', { name: 'Imported form' }),
    settings: {},
    origins: new Map(),
    newId: (preferred, words = '') => {
      const base = isMeaningfulId(preferred) ? preferred : slugOf(words);
      // Each stem has a counter: with thousands of equal long names, counting from 1 each time would take too
      // long.
      const stem = base.slice(0, 58);
      let count = counts.get(stem) ?? 0;
      let id = base;
      while (taken.has(id)) id = `${stem}_${(count += 1) + 1}`;
      counts.set(stem, count);
      taken.add(id);
      return id;
    },
  };
}

export const createNode = (type: string, attrs: Record<string, unknown> = {}): SketchNode => ({
  type,
  attrs: Object.fromEntries(Object.entries(attrs).filter(([, value]) => value !== undefined)),
  children: [],
});

/** Returns the attributes that a node of a type may have. */
export const attributeSpecsOf = (type: string): AttributeSpecs =>
  isElementType(type) ? elementDefinitions[type].attrs : type === 'step' ? stepAttributes : formAttributes;

/** Adds a node to its parent and records its source part. A full form accepts no more nodes. */
export function addNode({ origins }: Sketch, parent: SketchNode, node: SketchNode, part: SourcePart): void {
  if (origins.size >= formLimits.elements) {
    part.leaveOut(`A form has at most ${formLimits.elements} elements.`);
    return;
  }
  parent.children.push(node);
  origins.set(node, part);
  const { id } = node.attrs;
  part.map(typeof id === 'string' ? `${node.type} "${id}"` : node.type);
}

/** Adds a step after the last one. */
export function addStep(sketch: Sketch, part?: SourcePart, attrs: Record<string, unknown> = {}): SketchNode {
  const step = createNode('step', attrs);
  sketch.form.children.push(step);
  if (part) sketch.origins.set(step, part);
  return step;
}

/** A generated id is not kept, because it means nothing to people who read an export. */
const isMeaningfulId = (id: string | undefined): id is string =>
  id !== undefined &&
  isElementId(id) &&
  !/^[0-9a-f]{8}-|[0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{20}|^(?=.*\d)[a-z][a-z0-9]{23,}$/.test(id);

function slugOf(words: string): string {
  const slug = words
    .slice(0, 200)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .slice(0, 40)
    .replace(/_+$/, '');
  return isElementId(slug) ? slug : 'question';
}

/**
 * Adds a jump from a step to a later one or to the end, with or without a condition.
 * @returns the id of the target for the report, or undefined if it is not a later step.
 */
export function addJump(
  sketch: Sketch,
  from: SketchNode,
  target: SketchNode | 'end' | undefined,
  when?: Condition,
): string | undefined {
  const steps = sketch.form.children;
  if (target === undefined) return undefined;
  if (target !== 'end') {
    if (steps.indexOf(target) <= steps.indexOf(from)) return undefined;
    target.attrs['id'] ??= sketch.newId(`step_${steps.indexOf(target) + 1}`);
  }
  const to = target === 'end' ? target : String(target.attrs['id']);
  const jumps = (from.attrs['jumps'] ??= []) as Jump[];
  jumps.push({ ...(when && { when }), to });
  return to;
}

/** Adds the sum of the points of chosen options after the last question, if any option has points. */
export function addScoreCalculation(sketch: Sketch, part: SourcePart, start = 0): boolean {
  const counted = [...sketch.origins.keys()].filter(({ attrs: { options } }) => hasPoints(options));
  const last = sketch.form.children.at(-1);
  if (counted.length === 0 || !last) return false;
  const sums = counted.map(({ attrs }) => `points({${String(attrs['id'])}})`);
  const formula = [...(start === 0 ? [] : [start]), ...sums].join(' + ');
  const id = sketch.newId('score');
  addNode(sketch, last, createNode('calculation', { id, label: 'Score', formula, hidden: true }), part);
  return true;
}

const hasPoints = (options: unknown): boolean =>
  Array.isArray(options) &&
  options.some((option: string | object) => typeof option !== 'string' && 'points' in option);
