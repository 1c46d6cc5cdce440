import { sayNumber } from '#ast/say-number.ts';
import { isRecord, own } from '#ast/json.ts';
import { checkSettings, type Settings } from '#ast/settings.ts';
import { limits } from '#ast/limits.ts';
import { newWork, TooMuchWork, type Work } from '#ast/work.ts';
import { readGoogleForms } from './google-forms.ts';
import { addStep, newSketch, type Sketch, type Sketched } from './sketch.ts';
import { openSource, type Part, type ReportLine } from './source.ts';
import { readSurveyJs } from './surveyjs/read-surveyjs.ts';
import { readTally } from './tally/read-tally.ts';
import { readTypeform } from './typeform/read-typeform.ts';
import type { AttributeSpecs } from '#ast/attributes.ts';
import { elements, formAttributes, isElementType, stepAttributes } from '#ast/elements.ts';
import { fillPiped } from '#ast/piping.ts';
import { type StructureError, validateStructure } from '#ast/validate.ts';

/** How often what was mended is looked at again: what goes may take others with it. */
const rounds = 10;

/**
 * Leaves out what the language does not take of a form that was made of another: conditions that name what comes later,
 * limits that contradict each other, settings that do not fit. Each is said, in the words of the check. What cannot be
 * left out stays as a problem, which whoever makes the form sees.
 */
function finishSketch(sketch: Sketch, root: Part): void {
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

export const formSources = ['typeform', 'tally', 'google_forms', 'surveyjs'] as const;
export type FormSource = (typeof formSources)[number];

type Importer = {
  /** Whether a document looks like one of its own; the first that says so is asked. */
  recognises: (document: Readonly<Record<string, unknown>>) => boolean;
  read: (root: Part, sketch: Sketch) => void;
};

const isList = (document: Readonly<Record<string, unknown>>, name: string): boolean =>
  Array.isArray(own(document, name));

const importers: Readonly<Record<FormSource, Importer>> = {
  typeform: { recognises: (document) => isList(document, 'fields'), read: readTypeform },
  tally: { recognises: (document) => isList(document, 'blocks'), read: readTally },
  google_forms: {
    recognises: (document) => isRecord(own(document, 'info')) || isList(document, 'items'),
    read: readGoogleForms,
  },
  surveyjs: {
    recognises: (document) => ['pages', 'elements', 'questions'].some((name) => isList(document, name)),
    read: readSurveyJs,
  },
};

/** The source that a document is of, by what is in it. */
export const recogniseForm = (document: Readonly<Record<string, unknown>>): FormSource | undefined =>
  formSources.find((source) => importers[source].recognises(document));

/**
 * Makes a form of one that another service exported, and tells of every part what became of it: what no importer reads is
 * left out, and said. Takes any JSON and never throws; what comes of it may be incomplete, as a draft may be.
 * @throws TooMuchWork
 */
export function convertForm(
  document: Readonly<Record<string, unknown>>,
  source: FormSource,
  work?: Work,
): { structure: object; settings: Settings; report: ReportLine[] } {
  const { root, report } = openSource(document, work);
  const sketch = newSketch();
  importers[source].read(root, sketch);
  finishSketch(sketch, root);
  return { structure: sketch.form, settings: sketch.settings, report: report() };
}

const tooLarge = `It is too large to be read at once. A form has at most ${sayNumber(limits.elements)} elements and ${sayNumber(limits.formOptions)} options: import it in parts.`;

/** How many lines of a report are told. */
const mostLines = 1_000;

/** A converted form with as much of its report as is told, and how many lines that has. */
export type ToldForm = ReturnType<typeof convertForm> & { report_count: number };

/** convertForm for somebody who waits. @param work as openSource has it. @returns why it is not read, or the form. */
export function convertTold(
  document: Readonly<Record<string, unknown>>,
  source: FormSource,
  work?: Work,
): ToldForm | string {
  try {
    const made = convertForm(document, source, work);
    const { report } = made;
    return { ...made, report: report.slice(0, mostLines), report_count: report.length };
  } catch (error) {
    if (error instanceof TooMuchWork) return tooLarge;
    throw error;
  }
}

/** On a thread nobody else waits, so it may do eight times as much: a form of 1,000 questions with 40 options each takes six times. */
const timesOnThread = 8;

/** Converts a document that arrives as text, on a thread. */
export function convertText(text: string, source: FormSource): ToldForm | string {
  const work = newWork();
  work.left *= timesOnThread;
  return convertTold(JSON.parse(text) as Readonly<Record<string, unknown>>, source, work);
}
