import {
  type AttributeSpecs,
  attributeErrorCode,
  attributeProblem,
  isMissing,
} from './attributes/attributes.ts';
import { getProperty, isRecord, jsonStorageProblem } from './basics/json.ts';
import { formLimits } from './basics/limits.ts';
import { memoizeByObject } from './basics/memoize.ts';
import { type Option, optionIdOf, otherChoice } from './basics/options.ts';
import { limitProblems, type ProblemCode, quote } from './basics/problems.ts';
import { isInvisible } from './basics/text.ts';
import { createWorkBudget } from './basics/work.ts';
import { effectiveStructure } from './form/effective-form.ts';
import { elementDefinitions, formAttributes, isElementType, stepAttributes } from './form/elements.ts';
import { inputRules, isInputType } from './form/input-rules.ts';
import type { Form } from './form/tree.ts';
import { checkLogic } from './logic/check-logic.ts';
import type { LogicNode } from './logic/logic-node.ts';
import { impossibleRangeProblem } from './rules/range-problem.ts';
import { translationProblems } from './translations/check-translations.ts';
import { type InputRules, isChoiceKind, isListKind } from './types/rules.ts';

/**
 * One problem of a structure. `path` locates the node: `[]` for the root, `[step]`, `[step, element]`,
 * `[step, element, child]`. Problems of the root also have a `field` from the specification: `name` for a
 * missing name, `steps` for a form without steps (docs/rules.md 8).
 */
export type StructureError = {
  readonly message: string;
  readonly path: readonly number[];
  readonly field?: string;
  readonly code: ProblemCode;
};

type StructureResult =
  | { readonly ok: true; readonly form: Form }
  | { readonly ok: false; readonly errors: readonly StructureError[] };

/**
 * Checks a form structure (specification, "Form AST"; docs/rules.md 13 and 17) and reports all problems, up
 * to `limits.structureErrors`. Accepts any value, never throws, and is linear in the input. `form` is the
 * effective structure (effective-form.ts) with unknown attributes. The original structure is stored and
 * returned.
 */
export function validateStructure(input: unknown): StructureResult {
  const form = effectiveStructure(input);
  const errors = limitProblems(checkForm(form), formLimits.structureErrors, {
    message: `There are more problems. Only the first ${formLimits.structureErrors} are listed.`,
    path: [],
    code: 'more',
  });
  return errors.length === 0 ? { ok: true, form: form as Form } : { ok: false, errors };
}

type Node = Readonly<Record<string, unknown>>;
type Path = readonly number[];
type Problems = Generator<StructureError, void>;

/** Counts and lists over the whole tree. */
type Tally = {
  readonly ids: Set<string>;
  readonly nodes: LogicNode[];
  elements: number;
  options: number;
  values: number;
  markup: number;
  /** The languages of the root, which is checked first. */
  languages: readonly string[] | undefined;
};

type ElementPosition = {
  readonly path: Path;
  readonly nesting: number;
  readonly parent: LogicNode | undefined;
  readonly group: LogicNode | undefined;
};

const notANode = 'A node must be an object with "type", "attrs" and "children".';

function* checkForm(form: unknown): Problems {
  if (!isRecord(form)) {
    yield { message: notANode, path: [], code: 'invalid_type' };
    return;
  }
  const tally: Tally = {
    ids: new Set(),
    nodes: [],
    elements: 0,
    options: 0,
    values: 0,
    markup: 0,
    languages: undefined,
  };
  if (getProperty(form, 'type') !== 'form')
    yield { message: 'The root node must have the type "form".', path: [], code: 'invalid_choice' };
  yield* checkStorable(form, [], tally);
  yield* checkAttributes(form, formAttributes, [], tally);
  yield* checkSteps(childrenOf(form), tally);
  // These checks follow the names in conditions, jumps, formulas and texts.
  for (const problem of checkLogic(tally.nodes)) yield { code: 'invalid_reference', ...problem };
}

function* checkSteps(steps: unknown, tally: Tally): Problems {
  if (!Array.isArray(steps)) {
    yield { message: '"children" must be a list of steps.', path: [], field: 'steps', code: 'invalid_type' };
    return;
  }
  if (steps.length === 0)
    yield { message: 'A form must have at least one step.', path: [], field: 'steps', code: 'required' };
  if (steps.length > formLimits.steps)
    yield {
      message: `A form can have at most ${formLimits.steps} steps.`,
      path: [],
      field: 'steps',
      code: 'too_many',
    };
  for (const [index, step] of steps.slice(0, formLimits.steps).entries())
    yield* checkStep(step, [index], tally);
}

function* checkStep(step: unknown, path: Path, tally: Tally): Problems {
  if (!isRecord(step)) {
    yield { message: notANode, path, code: 'invalid_type' };
    return;
  }
  if (getProperty(step, 'type') !== 'step') {
    yield {
      message: 'Only nodes of the type "step" can be placed directly in a form.',
      path,
      code: 'not_allowed',
    };
    return;
  }
  yield* checkStorable(step, path, tally);
  const attrs = yield* checkAttributes(step, stepAttributes, path, tally);
  tally.nodes.push({ path, id: nodeId(attrs), type: 'step', parent: undefined, group: undefined, attrs });
  const place: ElementPosition = { path, nesting: 0, parent: undefined, group: undefined };
  yield* checkElements(getProperty(step, 'children'), place, tally);
}

function* checkElements(children: unknown, parent: ElementPosition, tally: Tally): Problems {
  if (!Array.isArray(children)) {
    yield { message: '"children" must be a list of elements.', path: parent.path, code: 'invalid_type' };
    return;
  }
  for (const [index, child] of children.entries()) {
    const path = [...parent.path, index];
    tally.elements += 1;
    if (tally.elements > formLimits.elements) {
      // Reported once, at the first element over the limit. Every open list also ends here.
      if (tally.elements === formLimits.elements + 1)
        yield { message: `A form can have at most ${formLimits.elements} elements.`, path, code: 'too_many' };
      return;
    }
    yield* checkElement(child, { ...parent, path }, tally);
  }
}

function* checkElement(element: unknown, place: ElementPosition, tally: Tally): Problems {
  if (!isRecord(element)) {
    yield { message: notANode, path: place.path, code: 'invalid_type' };
    return;
  }
  const type = getProperty(element, 'type');
  if (!isElementType(type)) {
    const code = typeof type !== 'string' ? 'required' : isPlaced(type) ? 'not_allowed' : 'invalid_choice';
    yield { message: typeProblem(type), path: place.path, code };
    return;
  }
  const { path, parent, group } = place;
  yield* checkStorable(element, path, tally);
  const attrs = yield* checkAttributes(element, elementDefinitions[type].attrs, path, tally);
  const node: LogicNode = { path, id: nodeId(attrs), type, parent, group, attrs };
  tally.nodes.push(node);
  yield* checkUniqueId(element, path, tally);
  yield* checkTogether(element, attrs, path, tally);
  yield* checkCorrect(element, node, path);
  if (group) yield* checkInRows(element, node, path);
  if (type === 'composite') yield* checkComposite(element, node, place, tally);
  else yield* checkLeaf(element, path);
}

/** Returns the ID of a node with valid attributes. */
function nodeId({ id }: Node): string | undefined {
  return typeof id === 'string' ? id : undefined;
}

/** Checks rules across attributes, and the number of options in the form. */
function* checkTogether(element: Node, attrs: Node, path: Path, tally: Tally): Problems {
  const problem = impossibleRangeProblem(attrs);
  if (problem) yield { message: `${nameOf(element)} ${problem}.`, path, code: 'not_allowed' };
  const { other } = attrs;
  const options = attrs['options'] as readonly Option[] | undefined;
  if (!options) return;
  if (other === true && options.map(optionIdOf).includes(otherChoice)) {
    const message = `"options" of ${nameOf(element)} must not have "${otherChoice}" if "other" is true.`;
    yield { message, path, code: 'not_allowed' };
  }
  const before = tally.options;
  const rows = attrs['rows'] as readonly Option[] | undefined;
  tally.options += options.length * (rows?.length ?? 1);
  if (before <= formLimits.formOptions && tally.options > formLimits.formOptions)
    yield {
      message: `A form can have at most ${formLimits.formOptions} options in total.`,
      path,
      code: 'too_many',
    };
}

/** Checks that visitors can give the right answer of a quiz. */
function* checkCorrect(element: Node, { type, attrs }: LogicNode, path: Path): Problems {
  const correct = attrs['correct'] as readonly unknown[] | undefined;
  if (!correct || !isInputType(type)) return;
  const { kind, check } = inputRules[type] as InputRules<Node>;
  // Limits such as `today` change with time, so only the kind of the answer is checked.
  const rules = isChoiceKind(kind) ? attrs : {};
  const context = { today: '2000-01-01', work: createWorkBudget() };
  const isPossible = (answer: unknown): boolean =>
    !(typeof answer === 'string' && isInvisible(answer)) && check(rules, answer, context).ok;
  if (isListKind(kind) ? isPossible(correct) : correct.every(isPossible)) return;
  const message = `"correct" of ${nameOf(element)} must contain only possible answers to the question.`;
  yield { message, path, code: 'invalid_choice' };
}

/** These attributes are about the whole submission, but a submission can have many rows. */
function* checkInRows(element: Node, { type, attrs }: LogicNode, path: Path): Problems {
  const { unique, verify, correct, options } = attrs as Node;
  if (type === 'score') {
    yield {
      message: `${nameOf(element)} cannot be inside a repeatable composite.`,
      path,
      code: 'not_allowed',
    };
    return;
  }
  const isLimited = (option: Option): boolean => typeof option !== 'string' && option.capacity !== undefined;
  const name =
    (unique === true && 'unique') ||
    (verify === true && 'verify') ||
    (correct !== undefined && 'correct') ||
    ((options as readonly Option[] | undefined)?.some(isLimited) && 'capacity');
  if (!name) return;
  const message = `"${name}" of ${nameOf(element)} cannot be set inside a repeatable composite.`;
  yield { message, path, code: 'not_allowed' };
}

/** Returns whether nodes of the type have a fixed position in a form. */
const isPlaced = (type: string): boolean => type === 'step' || type === 'form';

function typeProblem(type: unknown): string {
  if (typeof type !== 'string') return 'Every node needs a "type".';
  if (isPlaced(type)) return `A node of the type "${type}" cannot be placed in a step.`;
  return `Unknown element type ${quote(type)}. Use one of these: ${Object.keys(elementDefinitions).join(', ')}.`;
}

function* checkLeaf(leaf: Node, path: Path): Problems {
  const children = childrenOf(leaf);
  if (!Array.isArray(children)) yield { message: '"children" must be a list.', path, code: 'invalid_type' };
  else if (children.length > 0)
    yield { message: `${nameOf(leaf)} cannot have children.`, path, code: 'not_allowed' };
}

function* checkComposite(composite: Node, node: LogicNode, place: ElementPosition, tally: Tally): Problems {
  const { path } = place;
  // Checked before going deeper, so that the recursion ends for any input.
  if (place.nesting === formLimits.nesting) {
    yield {
      message: `Composites can be nested at most ${formLimits.nesting} levels deep.`,
      path,
      code: 'too_deep',
    };
    return;
  }
  const isRepeatable = getProperty(attributesOf(composite), 'repeatable') === true;
  if (isRepeatable && place.group)
    yield {
      message: 'A repeatable composite cannot be inside another repeatable composite.',
      path,
      code: 'not_allowed',
    };
  const group = isRepeatable ? node : place.group;
  const inside: ElementPosition = { path, nesting: place.nesting + 1, parent: node, group };
  yield* checkElements(getProperty(composite, 'children'), inside, tally);
}

const requiredNames = memoizeByObject((specs: AttributeSpecs): readonly string[] =>
  Object.keys(specs).filter((name) => specs[name]!.required),
);

/** Returns the valid attributes, for further checks. */
function* checkAttributes(
  node: Node,
  specs: AttributeSpecs,
  path: Path,
  tally: Tally,
): Generator<StructureError, Node> {
  const attrs = Object.hasOwn(node, 'attrs') ? node.attrs : {};
  const right: Record<string, unknown> = {};
  if (!isRecord(attrs)) {
    yield { message: '"attrs" must be an object.', path, code: 'invalid_type' };
    return right;
  }
  const at = (name: string) => (path.length === 0 ? { path, field: name } : { path });
  // Checks only required and present attributes. The type can have several times as many.
  for (const name of new Set([...requiredNames(specs), ...Object.keys(attrs)])) {
    const spec = getProperty(specs, name);
    const value = getProperty(attrs, name);
    if (spec?.required && isMissing(value)) {
      yield { message: `A required attribute is missing: "${name}".`, ...at(name), code: 'required' };
    } else if (spec && value !== undefined) {
      const problem = attributeProblem(spec, value);
      if (problem)
        yield {
          message: `"${name}" of ${nameOf(node)} ${problem}.`,
          ...at(name),
          code: attributeErrorCode(spec, value),
        };
      else right[name] = value;
    }
  }
  tally.languages ??= (right['languages'] ?? []) as readonly string[];
  if (right['translations'] !== undefined)
    for (const problem of translationProblems(right, specs, tally.languages))
      yield {
        message: `The translations of ${nameOf(node)} ${problem}.`,
        ...at('translations'),
        code: 'invalid_reference',
      };
  return right;
}

function* checkUniqueId(element: Node, path: Path, tally: Tally): Problems {
  const id = getProperty(attributesOf(element), 'id');
  if (typeof id !== 'string' || id === '') return;
  if (tally.ids.has(id))
    yield {
      message: `Element ids must be unique: ${quote(id)} is used more than once.`,
      path,
      code: 'duplicate_id',
    };
  tally.ids.add(id);
}

function* checkStorable(node: Node, path: Path, tally: Tally): Problems {
  if (tally.values > formLimits.values || tally.markup > formLimits.markupCharacters) return;
  // Children are checked under their own paths.
  const keys = Object.keys(node).filter((key) => key !== 'children');
  const values = keys.map((key) => node[key]);
  const problem = jsonStorageProblem([keys, values], tally);
  if (problem) yield { message: `${nameOf(node)} ${problem}.`, path, code: 'not_storable' };
}

/** Children are optional in a leaf, and in a form, which then has no steps. */
function childrenOf(node: Node): unknown {
  return Object.hasOwn(node, 'children') ? node.children : [];
}

function attributesOf(node: Node): Node {
  const attrs = getProperty(node, 'attrs');
  return isRecord(attrs) ? attrs : {};
}

/** Returns a name for a node in a message: its ID or, without one, its type. */
function nameOf(node: Node): string {
  const id = getProperty(attributesOf(node), 'id');
  if (typeof id === 'string') return quote(id);
  const type = getProperty(node, 'type');
  return `the ${isElementType(type) || type === 'step' ? type : 'form'}`;
}
