import { ApiError } from '#kit/errors.ts';
import { runInThread } from '#kit/run-in-thread.ts';
import {
  type convertText,
  convertTold,
  type FormSource,
  formSources,
  recogniseForm,
  type ToldForm,
} from './convert.ts';

/** A document has many values, and its texts may be long: a form of some thousand questions fits. */
export const documentBytes = 4 * 1024 * 1024;

/** A document of so many characters is read while others wait, in a few ms; to start a thread takes longer. */
const shortDocument = 20_000;

/** A document at the limit of size takes half a second. */
const threadLimits = {
  megabytes: 256,
  ms: 20_000,
  tooMuch: 'Reading the document takes too much time or memory. Split the form into smaller ones.',
} as const;

type Given = { document: Readonly<Record<string, unknown>>; source?: FormSource | undefined };
type Converted = ToldForm & { source: FormSource };

/**
 * What another service exported as a form of ours, with the report as it is told; a long document on a thread of its own, for
 * that takes up to half a second.
 * @throws ApiError validation_error where it is of no known source, or too much to be read at once.
 */
export async function readDocument(
  workspaceId: string,
  { document, source = recogniseForm(document) }: Given,
): Promise<Converted> {
  if (!source) throw refuse(`It is no form that is known here. Known are ${formSources.join(', ')}.`);
  const text = JSON.stringify(document);
  const made =
    text.length <= shortDocument
      ? convertTold(document, source)
      : await convertBeside(workspaceId, text, source);
  if (typeof made === 'string') throw refuse(made);
  return { ...made, source };
}

/** As a text, for to copy its values takes longer than to write and to read it. */
const convertBeside = (workspaceId: string, text: string, source: FormSource): Promise<ToldForm | string> =>
  runInThread(
    workspaceId,
    {
      module: new URL('convert.ts', import.meta.url),
      name: 'convertText',
      given: [text, source] satisfies Parameters<typeof convertText>,
    },
    threadLimits,
  );

const refuse = (message: string): ApiError =>
  new ApiError('validation_error', undefined, { errors: [{ field: 'document', message }] });
