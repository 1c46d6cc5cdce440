import { formatWholeNumber } from '#ast/basics/format-number.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { isBlank } from '#ast/basics/text.ts';
import { createWorkBudget, TooMuchWork, type WorkBudget } from '#ast/basics/work.ts';
import { fillPiped } from '#ast/form/piping.ts';
import { checkSettings, type Settings } from '#ast/settings.ts';
import { type StructureError, validateStructure } from '#ast/validate.ts';
import { readFormbricks } from './formbricks.ts';
import { readGoogleForms } from './google-forms.ts';
import { addStep, attributeSpecsOf, newSketch, type Sketch, type SketchNode } from './sketch.ts';
import { type ImportReportLine, openSourceDocument, type SourcePart } from './source.ts';
import { readSurveyJs } from './surveyjs.ts';
import { readTally } from './tally.ts';
import { documentOfCsv, documentOfLines, isTable, readColumns, readLines, readTable } from './text-forms.ts';
import { readTypeform } from './typeform.ts';

/** The maximum number of validation rounds. Removing a part can invalidate another part that uses it. */
const rounds = 10;

/**
 * Removes what the form language does not accept: conditions on a later question, limits that contradict each
 * other, invalid settings. Each is reported with the message of the check. A problem that cannot be removed
 * stays, and the import returns it.
 */
function finishSketch(sketch: Sketch, root: SourcePart): void {
  const { form, settings } = sketch;
  if (form.children.length === 0) addStep(sketch);
  for (let round = 0; round < rounds; round += 1) {
    const checked = validateStructure(form);
    if (checked.ok) break;
    const mended = checked.errors.filter((error) => removeInvalidAttributes(sketch, error, root));
    if (mended.length === 0) break;
  }
  const checked = validateStructure(form);
  const read = checkSettings(settings, checked.ok ? checked.form : undefined);
  if (read.ok) return;
  for (const { message } of read.errors) root.change(`A setting was left out: ${message}`);
  // Removes each entry once, from last to first, because a removal shifts the indexes of later entries.
  const wrong = new Set(read.errors.map(({ field }) => field.split('.').slice(0, 2).join('.')));
  for (const field of [...wrong].toReversed()) dropSetting(settings, field.split('.'));
}

/** Removes a setting, or only its invalid entry. */
function dropSetting(settings: Record<string, unknown>, [name = '', entry = '']: readonly string[]): void {
  const value = settings[name];
  if (Array.isArray(value) && value.length > 1)
    settings[name] = value.filter((_each, index) => String(index) !== entry);
  else if (isRecord(value) && Object.hasOwn(value, entry)) delete value[entry];
  else delete settings[name];
}

/** Removes the attributes that a problem names, unless they are required. @returns whether it removed any. */
function removeInvalidAttributes(
  { form, origins }: Sketch,
  { message, path }: StructureError,
  root: SourcePart,
): boolean {
  const node = path.reduce<SketchNode | undefined>((at, index) => at?.children[index], form);
  if (!node) return false;
  const specs = attributeSpecsOf(node.type);
  const named = message.startsWith('The translations of')
    ? ['translations']
    : Object.keys(specs).filter((name) => message.includes(`"${name}"`) && Object.hasOwn(node.attrs, name));
  const part = origins.get(node) ?? root;
  let isMended = false;
  for (const name of named) {
    const value = node.attrs[name];
    const shownless = typeof value === 'string' ? fillPiped(value, () => '…') : value;
    if (shownless !== value) node.attrs[name] = shownless;
    else if (specs[name]?.required) continue;
    else delete node.attrs[name];
    part.change(`Part of it was left out: ${message}`);
    isMended = true;
  }
  return isMended;
}

/** The services whose documents can be converted. The first one whose importer recognizes a document reads it. */
export const documentSources = ['typeform', 'formbricks', 'tally', 'google_forms', 'surveyjs'] as const;
type DocumentSource = (typeof documentSources)[number];
/** The sources of forms that are written as text: a question per line, or a table. */
export const textSources = ['plain_text', 'csv'] as const;
type TextSource = (typeof textSources)[number];
export const formSources = [...documentSources, ...textSources] as const;
export type FormSource = (typeof formSources)[number];

type ReadForm = (root: SourcePart, sketch: Sketch) => void;
type Document = Readonly<Record<string, unknown>>;

const isList = (document: Document, name: string): boolean => Array.isArray(getProperty(document, name));

/**
 * Formbricks surveys have questions with a headline, or blocks of elements. The Formbricks API wraps a survey
 * in `data`.
 */
function isFormbricks(document: Document): boolean {
  const data = getProperty(document, 'data');
  const survey = isRecord(data) ? data : document;
  const has = (list: string, name: string): boolean => {
    const items = getProperty(survey, list);
    return Array.isArray(items) && items.some((item) => isRecord(item) && Object.hasOwn(item, name));
  };
  return has('questions', 'headline') || has('blocks', 'elements');
}

/** Returns whether a document looks like one of this service. */
const recognizers: Readonly<Record<DocumentSource, (document: Document) => boolean>> = {
  typeform: (document) => isList(document, 'fields'),
  formbricks: isFormbricks,
  tally: (document) => isList(document, 'blocks'),
  google_forms: (document) => isRecord(getProperty(document, 'info')) || isList(document, 'items'),
  surveyjs: (document) => ['pages', 'elements', 'questions'].some((name) => isList(document, name)),
};

const importers: Readonly<Record<FormSource, ReadForm>> = {
  typeform: readTypeform,
  formbricks: readFormbricks,
  tally: readTally,
  google_forms: readGoogleForms,
  surveyjs: readSurveyJs,
  plain_text: readLines,
  csv: readColumns,
};

/** Returns the service that a document comes from, judged by its content. */
export const detectFormSource = (document: Document): DocumentSource | undefined =>
  documentSources.find((source) => recognizers[source](document));

/** A form that is sent as text. The source is detected from the text if it is omitted. */
type TextForm = { readonly text: string; readonly source?: TextSource | undefined };

/** Returns the document of a form that is sent as text. Returns a string with the reason if it cannot be read. */
export function documentOfText({
  text,
  source: given,
}: TextForm): { document: Document; source: TextSource } | string {
  if (isBlank(text)) return 'The text is empty. Write one question per line.';
  const table = readTable(text);
  const source = given ?? (isTable(text, table) ? 'csv' : 'plain_text');
  const document = source === 'csv' ? documentOfCsv(table) : documentOfLines(text);
  return typeof document === 'string' ? document : { document, source };
}

/**
 * Converts a form of another service and reports what became of every part: a part that no importer reads is reported as
 * left out. Accepts any JSON; the result may be incomplete, like a draft.
 * @throws TooMuchWork
 */
export function convertForm(
  document: Document,
  source: FormSource,
  work?: WorkBudget,
): { structure: object; settings: Settings; report: ImportReportLine[] } {
  const { root, report } = openSourceDocument(document, work);
  const sketch = newSketch();
  importers[source](root, sketch);
  finishSketch(sketch, root);
  return { structure: sketch.form, settings: sketch.settings, report: report() };
}

const tooLarge = `The form is too large to import. A form has at most ${formatWholeNumber(formLimits.elements)} elements and ${formatWholeNumber(formLimits.formOptions)} options. Import it in parts.`;

/** The number of report lines that are returned. */
const mostLines = 1_000;

/** A converted form with its source, the first lines of its report, and the number of all lines. */
export type ReportedForm = ReturnType<typeof convertForm> & { source: FormSource; report_count: number };

const isDocumentSource = (source: FormSource | undefined): source is DocumentSource =>
  documentSources.some((each) => each === source);

/**
 * Converts a form for a request.
 * @param text the JSON of a document, or a form that is written as text.
 * @param source is detected if it is omitted for a form that is written as text.
 * @param work limits the work of the conversion.
 * @returns the form, or why it cannot be read.
 */
export function convertForRequest(
  text: string,
  source: FormSource | undefined,
  work?: WorkBudget,
): ReportedForm | string {
  const read = isDocumentSource(source)
    ? { document: JSON.parse(text) as Document, source }
    : documentOfText({ text, source });
  if (typeof read === 'string') return read;
  try {
    const form = convertForm(read.document, read.source, work);
    const { report } = form;
    return { ...form, source: read.source, report: report.slice(0, mostLines), report_count: report.length };
  } catch (error) {
    if (error instanceof TooMuchWork) return tooLarge;
    throw error;
  }
}

/**
 * A thread blocks no other request, so it may do eight times as much work: 1,000 questions with 40 options
 * each need six times.
 */
const timesOnThread = 8;

/** Converts a form on a thread, with a larger limit. */
export function convertFormText(text: string, source: FormSource | undefined): ReportedForm | string {
  const work = createWorkBudget();
  work.left *= timesOnThread;
  return convertForRequest(text, source, work);
}
