import type { AttributeSpecs } from '#ast/attributes.ts';
import { elements, formAttributes, isElementType, stepAttributes } from '#ast/elements.ts';
import { isRecord } from '#ast/json.ts';
import { fillPiped } from '#ast/piping.ts';
import { checkSettings } from '#ast/settings.ts';
import { type StructureError, validateStructure } from '#ast/validate.ts';
import type { Part } from './source.ts';
import { addStep, type Sketch, type Sketched } from './sketch.ts';

/** How often what was mended is looked at again: what goes may take others with it. */
const rounds = 10;

/**
 * Leaves out what the language does not take of a form that was made of another: conditions that name what comes later,
 * limits that contradict each other, settings that do not fit. Each is said, in the words of the check. What cannot be
 * left out stays as a problem, which whoever makes the form sees.
 */
export function finishSketch(sketch: Sketch, root: Part): void {
  const { form, settings } = sketch;
  if (form.children.length === 0) addStep(sketch);
  for (let round = 0; round < rounds; round += 1) {
    const checked = validateStructure(form);
    if (checked.ok) break;
    const mended = checked.errors.filter((error) => mend(sketch, error, root));
    if (mended.length === 0) break;
  }
  const checked = validateStructure(form);
  const read = checkSettings(settings, checked.ok ? checked.form : undefined);
  if (read.ok) return;
  for (const { message } of read.errors) root.change(`A setting is left out: ${message}`);
  // Once for each, whatever is wrong in it, and the last first: behind one that goes others have new numbers.
  const wrong = new Set(read.errors.map(({ field }) => field.split('.').slice(0, 2).join('.')));
  for (const field of [...wrong].toReversed()) dropSetting(settings, field.split('.'));
}

/** Takes away a setting by its name, or the one entry of it that is wrong. */
function dropSetting(settings: Record<string, unknown>, [name = '', entry = '']: readonly string[]): void {
  const value = settings[name];
  if (Array.isArray(value) && value.length > 1)
    settings[name] = value.filter((_each, index) => String(index) !== entry);
  else if (isRecord(value) && Object.hasOwn(value, entry)) delete value[entry];
  else delete settings[name];
}

/** Takes away what a problem names, where the node can do without. @returns whether it did. */
function mend({ form, origins }: Sketch, { message, path }: StructureError, root: Part): boolean {
  const made = path.reduce<Sketched | undefined>((at, index) => at?.children[index], form);
  if (!made) return false;
  const specs = specsOf(made.type);
  const named = message.startsWith('The translations of')
    ? ['translations']
    : Object.keys(specs).filter((name) => message.includes(`"${name}"`) && Object.hasOwn(made.attrs, name));
  const part = origins.get(made) ?? root;
  let isMended = false;
  for (const name of named) {
    const value = made.attrs[name];
    const shownless = typeof value === 'string' ? fillPiped(value, () => '…') : value;
    if (shownless !== value) made.attrs[name] = shownless;
    else if (specs[name]?.required) continue;
    else delete made.attrs[name];
    part.change(`Something is left out: ${message}`);
    isMended = true;
  }
  return isMended;
}

const specsOf = (type: string): AttributeSpecs =>
  isElementType(type) ? elements[type].attrs : type === 'step' ? stepAttributes : formAttributes;
