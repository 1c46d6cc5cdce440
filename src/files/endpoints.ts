import { effectiveForm } from '#ast/effective-form.ts';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { type Form, kindOf, listQuestions } from '#ast/tree.ts';
import { requireForm } from '#forms/require-form.ts';
import type { Config } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import { named } from '#kit/named.ts';
import { operation } from '#kit/operation.ts';
import { requireReach } from '#workspaces/reach.ts';
import { fileLimits, type FilesContext, receiveFile } from './receive.ts';
import { readRoom } from './room.ts';

/** What bytes cannot show, and is not dangerous to believe. */
const declaredTypes = [
  'text/plain',
  'text/csv',
  'text/markdown',
  'application/json',
  'application/rtf',
] as const;

const NewFile = Type.Object(
  {
    form_id: Type.String({ format: 'uuid' }),
    element: Type.String({ description: 'The id of the question that it answers.' }),
    filename: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Kept without a path, in 200 bytes.',
    }),
    content_type: Type.Optional(
      Type.Enum([...declaredTypes], { description: 'Of a text. All else is known by its bytes.' }),
    ),
  },
  { additionalProperties: false },
);

const UploadedFile = named(
  'UploadedFile',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    filename: Type.String(),
    size: Type.Integer({ description: 'In bytes.' }),
    content_type: Type.String({ description: 'As its bytes show it.' }),
  }),
);

/** Files that a submission is going to name. */
export const fileEndpoints = ({
  database,
  storage,
  config,
}: FilesContext & { config: Pick<Config, 'limits'> }) => ({
  createFile: operation({
    summary: 'Create file',
    description:
      'Takes a file of at most 10 MB as it is, for one question of a form. Its id is the answer: `{"answers": {"cv": ["<id>"]}}` in Create submission or Change submission. A file that no submission has named is deleted after a day.',
    permission: 'files:write',
    query: NewFile,
    bodyContent: ['application/octet-stream'],
    bodyLimit: fileLimits.fileBytes,
    example: {
      query: {
        form_id: '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1',
        element: 'file',
        filename: 'notes.txt',
        content_type: 'text/plain',
      },
      body: Buffer.from('Notes.\n'),
    },
    reply: { status: 201, description: 'The file.', schema: UploadedFile },
    async run({ workspaceId, formIds, query, body }) {
      const place = { workspaceId, formId: query.form_id };
      requireReach(formIds, place.formId);
      const { structure } = await requireForm(database, place);
      if (!takesFiles(effectiveForm(structure), query.element))
        refuse('element', 'The form has no such question for files.');
      if (body.length > (await readRoom(database, config.limits, place)))
        refuse('form_id', 'There is no room for more files of this form.');
      const file = await receiveFile(
        { database, storage },
        {
          ...place,
          element: query.element,
          filename: query.filename,
          declaredType: query.content_type ?? '',
          source: Readable.from([body], { objectMode: false }),
        },
      );
      return { body: file };
    },
  }),
});

/** In rows of a group as well. */
const takesFiles = (form: Form, element: string): boolean =>
  listQuestions(form)
    .flatMap((question) => (question.kind === 'input' ? [question.element] : question.inputs))
    .some((input) => input.attrs.id === element && kindOf(input) === 'files');

function refuse(field: string, message: string): never {
  throw new ApiError('validation_error', message, {
    errors: [{ field, message, code: 'invalid_reference' }],
  });
}
