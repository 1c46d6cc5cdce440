import { sayNumber } from '#ast/say-number.ts';
import { isRecord, own } from '#ast/json.ts';
import type { Settings } from '#ast/settings.ts';
import { limits } from '#ast/limits.ts';
import { newWork, TooMuchWork, type Work } from '#ast/work.ts';
import { finishSketch } from './finish.ts';
import { readGoogleForms } from './google-forms.ts';
import { newSketch, type Sketch } from './sketch.ts';
import { openSource, type Part, type ReportLine } from './source.ts';
import { readSurveyJs } from './surveyjs/read-surveyjs.ts';
import { readTally } from './tally/read-tally.ts';
import { readTypeform } from './typeform/read-typeform.ts';

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
