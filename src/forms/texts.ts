import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import type { FormNode } from '#ast/form/tree.ts';
import {
  applyFormTranslations,
  type EditedForm,
  languagesOfStructure,
  listTexts,
  untranslatedTexts,
} from '#ast/texts.ts';
import { readTextsFile, writeTextsFile } from '#ast/texts-file.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue, attachmentHeader } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { namedObject } from '#kit/pagination.ts';
import { strictObject, timestampSchema } from '#kit/validation.ts';
import { personIdOf } from '#workspaces/authenticate.ts';
import { draftEtagOf, readBuilderForm, revisionsIn, saveWorkingCopy } from './draft.ts';

const tag = Type.String({ description: 'A BCP 47 tag.' });

/** Every text of a working copy. */
const Texts = namedObject('FormTexts', {
  languages: Type.Array(tag, {
    description: 'The first language is the language of the texts themselves.',
  }),
  texts: Type.Array(
    Type.Object({
      key: Type.String({
        description:
          'The location of the text: the id of the element, the attribute, and the id of the option. Without an element id, it begins with `$` and the path, `$form` or `$settings`.',
      }),
      text: Type.String(),
      translations: Type.Record(Type.String(), Type.String()),
    }),
  ),
  missing: Type.Record(Type.String(), Type.Integer(), {
    description: 'The number of untranslated texts, by language.',
  }),
});

const Imported = namedObject('ImportedTexts', {
  changed: Type.Integer({ description: 'The number of changed translations.' }),
  outdated: Type.Array(Type.String(), {
    description:
      'The keys of texts that have changed since the file was exported. Their translations may be outdated.',
  }),
  missing: Texts.properties.missing,
  revision: Type.Integer(),
  saved_at: timestampSchema,
  etag: Type.String(),
});

const countMissing = (document: EditedForm): Record<string, number> => {
  const texts = listTexts(document);
  const others = languagesOfStructure(document.structure).slice(1);
  return Object.fromEntries(others.map((language) => [language, untranslatedTexts(texts, language).length]));
};

/** Operations on the texts of a form's working copy in all its languages, for review and translation. */
export function textEndpoints({ database }: { database: Database }) {
  const read = async ({ workspaceId }: RequestScope, formId: string) => {
    const { form, draft } = await readBuilderForm(database, workspaceId, formId);
    const document: EditedForm = { structure: draft.structure as FormNode, settings: draft.settings };
    return { name: form.name, draft, document };
  };
  return {
    listFormTexts: operation({
      summary: 'List texts of a form',
      description: 'Returns every text in the working copy that visitors can read, with its translations.',
      permission: 'forms:read',
      params: idParameter,
      reply: { status: 200, description: 'The texts, in the order of the form.', schema: Texts },
      async run({ params, ...scope }) {
        const { document } = await read(scope, params.id);
        const texts = listTexts(document).map(({ key, text, translations }) => ({ key, text, translations }));
        const languages = [...languagesOfStructure(document.structure)];
        const body: Static<typeof Texts> = { languages, texts, missing: countMissing(document) };
        return { body };
      },
    }),

    exportFormTexts: operation({
      summary: 'Export texts of a form',
      description:
        'Returns the texts as CSV for translators, with a row for each text and a column for each language. A text that a spreadsheet could read as a formula begins with an apostrophe.',
      permission: 'forms:read',
      audit: 'entry',
      params: idParameter,
      reply: { status: 200, description: 'The file.', content: ['text/csv; charset=utf-8'] },
      async run({ params, ...scope }) {
        const { name, document } = await read(scope, params.id);
        return {
          headers: { 'Content-Type': 'text/csv; charset=utf-8', ...attachmentHeader(name, ' texts.csv') },
          stream: Readable.from([writeTextsFile(document)]),
        };
      },
    }),

    importFormTexts: operation({
      summary: 'Import texts of a form',
      description:
        'Imports a file from Export texts of a form into the working copy. Its translations replace the existing ones. Empty cells change nothing. If a key, column or text is not valid, the error names its line and nothing is changed.',
      permission: 'forms:write',
      audit: 'entry',
      params: idParameter,
      body: strictObject({
        text: Type.String({
          description:
            'The file as text. Its columns are `key` and the languages of the form (`text` if the form has none).',
        }),
      }),
      example: { body: { text: 'key,text\r\n$form/name,Contact\r\n' } },
      isConditional: true,
      conditionOf: '/forms/:id/draft',
      reply: { status: 200, description: 'The changes.', schema: Imported },
      async run({ params, body, unchanged, ...scope }) {
        const { draft, document } = await read(scope, params.id);
        const file = readTextsFile(document, body.text);
        if (!file.ok) {
          const errors = file.problems.map(({ line, message }) => ({
            field: 'text',
            message: `Line ${line}: ${message}`,
          }));
          throw new ApiError('validation_error', 'The file has errors. Correct them and import it again.', {
            errors,
          });
        }
        const changed = applyFormTranslations(document, file.changes);
        // Changes only the revision that was read, even without If-Match.
        const saved = await saveWorkingCopy(database, {
          workspaceId: scope.workspaceId,
          formId: params.id,
          revisions: revisionsIn(unchanged) ?? [draft.revision],
          ...changed,
          userId: personIdOf(scope.actor),
        });
        const etag = draftEtagOf(saved.revision);
        const outdated = file.outdated.map(({ key }) => key);
        const counts = { changed: file.changes.length, outdated, missing: countMissing(changed) };
        return { body: { ...counts, ...asWireValue(saved), etag }, tag: etag };
      },
    }),
  };
}
