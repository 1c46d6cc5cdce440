import { TooMuchWork } from '#ast/work.ts';
import { ApiError } from '#kit/errors.ts';
import { convertForm, type FormSource, formSources, recogniseForm } from './convert.ts';

/** How many lines of a report are told. */
const mostLines = 1_000;

/** A document has many values, and its texts may be long: a form of some thousand questions fits. */
export const documentBytes = 4 * 1024 * 1024;

type Given = { document: Readonly<Record<string, unknown>>; source?: FormSource | undefined };
type Converted = ReturnType<typeof convertForm> & { source: FormSource; report_count: number };

/**
 * What another service exported as a form of ours, with the report as it is told.
 * @throws ApiError validation_error where it is of no known source, or too much to be read at once.
 */
export function readDocument({ document, source = recogniseForm(document) }: Given): Converted {
  if (!source) throw refuse(`It is no form that is known here. Known are ${formSources.join(', ')}.`);
  try {
    const made = convertForm(document, source);
    const { report } = made;
    return { ...made, source, report: report.slice(0, mostLines), report_count: report.length };
  } catch (error) {
    if (error instanceof TooMuchWork)
      throw refuse('It is too large to be read at once. Import it in parts.', error);
    throw error;
  }
}

const refuse = (message: string, cause?: unknown): ApiError =>
  new ApiError('validation_error', undefined, { errors: [{ field: 'document', message }], cause });
