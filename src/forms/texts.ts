import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import {
  listTexts,
  missingIn,
  namedLanguages,
  type TextDocument,
  translateTexts,
} from '#ast/translations/texts.ts';
import { readTextsFile, writeTextsFile } from '#ast/translations/texts-file.ts';
import type { FormNode } from '#ast/tree.ts';
import { attachment } from '#kit/attachment.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { wired } from '#kit/http.ts';
import { idParameter, operation, type Scope } from '#kit/operation.ts';
import { named } from '#kit/pagination.ts';
import { closed } from '#kit/validation.ts';
import { personOf, requireReach } from '#workspaces/authenticate.ts';
import { draftTag, readBuilderForm, revisionsIn, saveWorkingCopy } from './draft.ts';

const tag = Type.String({ description: 'A BCP-47 tag.' });

/** Every text of a working copy. */
const Texts = named(
  'FormTexts',
  Type.Object({
    languages: Type.Array(tag, { description: 'The texts themselves are in the first.' }),
    texts: Type.Array(
      Type.Object({
        key: Type.String({
          description:
            'Where it stands: the id of the element (`$` and the path of a part without one, `$form`, `$settings`), the attribute, and the id of the option.',
        }),
        text: Type.String(),
        translations: Type.Record(Type.String(), Type.String()),
      }),
    ),
    missing: Type.Record(Type.String(), Type.Integer(), {
      description: 'How many texts are not translated, by language.',
    }),
  }),
);

const Imported = named(
  'ImportedTexts',
  Type.Object({
    changed: Type.Integer({ description: 'How many texts were translated anew.' }),
    outdated: Type.Array(Type.String(), {
      description:
        'The keys of texts that were written anew since the file was: their translations may be old.',
    }),
    missing: Texts.properties.missing,
    revision: Type.Integer(),
    saved_at: Type.String({ format: 'date-time' }),
    etag: Type.String(),
  }),
);

const countMissing = (document: TextDocument): Record<string, number> => {
  const texts = listTexts(document);
  const others = namedLanguages(document.structure).slice(1);
  return Object.fromEntries(others.map((language) => [language, missingIn(texts, language).length]));
};

/** The texts of a form's working copy in the languages that it names: to be looked through, and for translators. */
export function textEndpoints({ database }: { database: Database }) {
  const read = async ({ workspaceId, formIds }: Scope, formId: string) => {
    requireReach(formIds, formId);
    const { form, draft } = await readBuilderForm(database, workspaceId, formId);
    const document: TextDocument = { structure: draft.structure as FormNode, settings: draft.settings };
    return { name: form.name, draft, document };
  };
  return {
    listFormTexts: operation({
      summary: 'List texts of a form',
      description:
        'Every text of the working copy that visitors read, with what it is in the other languages that the form names.',
      permission: 'forms:read',
      params: idParameter,
      reply: { status: 200, description: 'The texts, in the order of the form.', schema: Texts },
      async run({ params, ...scope }) {
        const { document } = await read(scope, params.id);
        const texts = listTexts(document).map(({ key, text, translations }) => ({ key, text, translations }));
        const languages = [...namedLanguages(document.structure)];
        const body: Static<typeof Texts> = { languages, texts, missing: countMissing(document) };
        return { body };
      },
    }),

    exportFormTexts: operation({
      summary: 'Export texts of a form',
      description:
        'The same as CSV, for translators: a line for each text and a column for each language. A text that a spreadsheet could take for a formula has an apostrophe before it.',
      permission: 'forms:read',
      audit: 'entry',
      params: idParameter,
      reply: { status: 200, description: 'The file.', content: ['text/csv; charset=utf-8'] },
      async run({ params, ...scope }) {
        const { name, document } = await read(scope, params.id);
        return {
          headers: { 'Content-Type': 'text/csv; charset=utf-8', ...attachment(name, ' texts.csv') },
          stream: Readable.from([writeTextsFile(document)]),
        };
      },
    }),

    importFormTexts: operation({
      summary: 'Import texts of a form',
      description:
        'Takes such a file into the working copy: its translations replace those that are there. An empty cell changes nothing. A key, a column or a text that the form cannot have is named by its line, and then nothing is changed.',
      permission: 'forms:write',
      audit: 'entry',
      params: idParameter,
      body: Type.Object(
        {
          text: Type.String({
            description:
              'The file, as text: its columns are `key`, and the languages that the form names (`text`, where it names none).',
          }),
        },
        closed,
      ),
      example: { body: { text: 'key,text\r\n$form/name,Contact\r\n' } },
      isConditional: true,
      conditionOf: '/forms/:id/draft',
      reply: { status: 200, description: 'What was changed.', schema: Imported },
      async run({ params, body, unchanged, ...scope }) {
        const { draft, document } = await read(scope, params.id);
        const file = readTextsFile(document, body.text);
        if (!file.ok) {
          const errors = file.problems.map(({ line, message }) => ({
            field: 'text',
            message: `Line ${line}: ${message}`,
          }));
          throw new ApiError('validation_error', 'The file cannot be taken as it is.', { errors });
        }
        const changed = translateTexts(document, file.changes);
        // What was read is what is changed, whether or not the caller says what they saw.
        const saved = await saveWorkingCopy(database, {
          workspaceId: scope.workspaceId,
          formId: params.id,
          revisions: revisionsIn(unchanged) ?? [draft.revision],
          ...changed,
          userId: personOf(scope.actor),
        });
        const etag = draftTag(saved.revision);
        const outdated = file.outdated.map(({ key }) => key);
        const counts = { changed: file.changes.length, outdated, missing: countMissing(changed) };
        return { body: { ...counts, ...wired(saved), etag }, tag: etag };
      },
    }),
  };
}
