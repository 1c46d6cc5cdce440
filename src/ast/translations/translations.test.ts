import assert from 'node:assert/strict';
import { test } from 'node:test';
import { context, element, formOf, problemsOf } from '#test/ast/forms.ts';
import { checkAnswers } from '../answers/check-answers.ts';
import { matchLanguage } from '../basics/language-tags.ts';
import { chooseSearchLanguage } from '../basics/languages.ts';
import { formLimits } from '../basics/limits.ts';
import type { Form, FormNode } from '../form/tree.ts';
import { checkSettings, dropStaleSettings, type Settings } from '../settings.ts';
import {
  applyFormTranslations,
  dropStaleTranslations,
  type EditedForm,
  listTexts,
  untranslatedTexts,
} from '../texts.ts';
import { readTextsFile, writeTextsFile } from '../texts-file.ts';
import { validateStructure } from '../validate.ts';
import { settingsInLanguage } from './check-translations.ts';
import { mapTextInAllLanguages, textInAllLanguages } from './text-in-all-languages.ts';
import { formInLanguage } from './translations.ts';

const name = element('text', 'name', {
  label: 'Your name',
  help_text: 'As in your passport',
  translations: { de: { label: 'Ihr Name' }, ar: { label: 'اسمك', help_text: 'كما في جواز السفر' } },
});
const colour = element('radio', 'colour', {
  label: 'Colour for {{name}}',
  options: ['Red', { id: 'blue', label: 'Blue', points: 2 }],
  translations: { de: { label: 'Farbe für {{name}}', options: { Red: 'Rot', blue: 'Blau' } } },
});
const structure = (
  children: readonly FormNode[] = [name, colour],
  attrs: object = { translations: { de: { name: 'Kontakt' } } },
  ofStep: object = { translations: { de: { title: 'Eins' } } },
): FormNode => ({
  type: 'form',
  attrs: { name: 'Contact', languages: ['en', 'de', 'ar'], ...attrs },
  children: [{ type: 'step', attrs: { title: 'One', ...ofStep }, children }],
});
const valid = (node: FormNode): Form => {
  const result = validateStructure(node);
  assert.ok(result.ok, JSON.stringify(result));
  return result.form;
};
const attributesOf = (form: Form, index: number) => form.children[0]!.children[index]!.attrs as object;

test('matrix rows are translated by their ids, as options are, and answers keep the ids', () => {
  const matrix = element('matrix', 'likes', {
    rows: ['Tea', { id: 'c', label: 'Coffee' }],
    translations: { de: { rows: { Tea: 'Tee', c: 'Kaffee' }, options: { Red: 'Rot' } } },
  });
  const german = formInLanguage(valid(structure([matrix])), 'de');
  assert.deepEqual((attributesOf(german, 0) as { rows: unknown }).rows, [
    { id: 'Tea', label: 'Tee' },
    { id: 'c', label: 'Kaffee' },
  ]);
  const checked = checkAnswers(german, { likes: { Tea: 'Red' } }, new Map(), context);
  assert.deepEqual(checked.ok && checked.answers, { likes: { Tea: 'Red' } });
  const wrong = element('matrix', 'likes', { translations: { de: { rows: { Milk: 'Milch' } } } });
  assert.match(problemsOf(structure([wrong]))[0]!.message, /"Milk"/);
});

test('a form in one of its languages has the texts of that language only; missing ones stay as written', () => {
  const form = valid(structure());
  const german = formInLanguage(form, 'de');
  assert.deepEqual(german.attrs, { name: 'Kontakt' });
  assert.deepEqual(german.children[0]!.attrs, { title: 'Eins' });
  assert.deepEqual(attributesOf(german, 0), {
    id: 'name',
    label: 'Ihr Name',
    help_text: 'As in your passport',
  });
  assert.deepEqual(attributesOf(german, 1), {
    id: 'colour',
    label: 'Farbe für {{name}}',
    options: [
      { id: 'Red', label: 'Rot' },
      { id: 'blue', label: 'Blau', points: 2 },
    ],
  });
  assert.deepEqual(formInLanguage(form, 'ar').attrs, { name: 'Contact' });
  assert.deepEqual(attributesOf(formInLanguage(form, 'fr'), 0), {
    id: 'name',
    label: 'Your name',
    help_text: 'As in your passport',
  });
  assert.equal(formInLanguage(form, 'de'), german, 'it is made once');
  assert.equal(
    formInLanguage(form, 'fr'),
    formInLanguage(form, 'en'),
    'a language that it has not makes no other',
  );
  const partly = valid(
    structure([element('text', 'a', { translations: { de: { help_text: 'Hilfe' } } }), element('text', 'b')]),
  );
  assert.deepEqual(
    [0, 1].map((index) => attributesOf(formInLanguage(partly, 'de'), index)),
    [
      { id: 'a', label: 'The a' },
      { id: 'b', label: 'The b' },
    ],
    'what is not written is not said in another language either',
  );
  const plain = formOf(element('text', 'name'));
  assert.equal(formInLanguage(plain, 'de'), plain, 'a form that names no languages is itself');
});

test('answers keep option ids, in whatever language they were given', () => {
  const form = valid(structure());
  for (const language of ['en', 'de']) {
    const answers = { name: 'Ada', colour: 'Red' };
    assert.deepEqual(checkAnswers(formInLanguage(form, language), answers, new Map(), context), {
      ok: true,
      answers,
    });
    const label = checkAnswers(
      formInLanguage(form, language),
      { ...answers, colour: 'Rot' },
      new Map(),
      context,
    );
    assert.equal(label.ok, false);
  }
});

test('translations with an unknown language, text or option are rejected with their path', () => {
  const problem = (translations: unknown, type = 'radio'): string[] =>
    problemsOf(structure([element(type, 'colour', { translations })])).map(
      ({ message, path }) => `${path.join('.')} ${message}`,
    );
  const begin = '0.0 The translations of "colour"';
  assert.deepEqual(problem({ fr: { label: 'Couleur' } }), [
    `${begin} include "fr", which is not in the form's "languages" ("en", "de", "ar").`,
  ]);
  assert.deepEqual(problem({ en: { label: 'Colour' } }), [
    `${begin} include "en", which is the language of the original texts.`,
  ]);
  assert.deepEqual(problem({ de: { colour: 'Rot', label: ' ' } }), [
    `${begin} include "colour" in "de", which is not one of its texts: label, placeholder, help_text, error_message, options, explanation.`,
    `${begin} must not have a blank "label" in "de"; omit it instead.`,
  ]);
  assert.deepEqual(problem({ de: { options: { Rot: 'Red', Blue: 'a\nb' }, help_text: { a: 'b' } } }), [
    `${begin} include the option "Rot" in "options" in "de", which does not exist.`,
    `${begin} must have no line breaks in "options" in "de".`,
    `${begin} must have text for "help_text" in "de".`,
  ]);
  assert.deepEqual(problem({ de: { label: 'x'.repeat(formLimits.labelBytes + 1) } }), [
    `${begin} must have at most 1 KB (1024 bytes) for "label" in "de".`,
  ]);
  assert.deepEqual(problem({ de: { options: 'Rot' } }), [
    `${begin} must have labels by option ID for "options" in "de".`,
  ]);
  for (const hostile of [7, [], { de: { label: 7 } }, { de: { options: { Red: [] } } }])
    assert.match(
      problem(hostile).join(),
      /^0\.0 "translations" of "colour" must map each language to an object whose keys are attribute names and whose values are text\.$/,
    );
});

test('the languages of a form are unique tags, at most twenty', () => {
  const problem = (languages: unknown): string[] =>
    problemsOf(structure([], { languages, translations: undefined }))
      .filter(({ path }) => path.length === 0)
      .map(({ message }) => message);
  assert.deepEqual(problem(['en', 'de', 'pt-BR', 'zh-Hant', 'sr-Latn-RS', 'es-419']), []);
  for (const wrong of [[], 'en', ['en', 7], ['English'], ['EN'], ['de-at'], ['en', 'en'], [' en']])
    assert.match(problem(wrong).join(), /"languages" of the form must/, JSON.stringify(wrong));
  const many = Array.from({ length: 21 }, (_, index) => `a${String.fromCharCode(97 + index)}`);
  assert.match(problem(many).join(), /at most 20 languages/);
});

test('a translated text can show only the answers that its original can show', () => {
  const [problem] = problemsOf(
    structure([
      element('text', 'a', { translations: { de: { label: 'Nach {{b}}' } } }),
      element('text', 'b'),
    ]),
  );
  assert.deepEqual(problem, {
    message: '"label" of "a" shows the answer to "b", which is not asked before this text.',
    path: [0, 0],
  });
});

test('conditional confirmations have translations, in the list, in the file and on the page', () => {
  const form = valid(structure());
  const when = { element: 'name', is: 'answered' } as const;
  const settings: Settings = {
    confirmations: [
      { when, redirect_url: 'https://example.com/' },
      { when, title: 'Hi {{name}}', message: 'Done', translations: { de: { title: 'Hallo {{name}}' } } },
    ],
  };
  assert.deepEqual(checkSettings(settings, form), { ok: true, settings, errors: [] });
  const document = { structure: structure(), settings };
  const texts = listTexts(document).filter(({ path }) => path === undefined);
  assert.deepEqual(
    texts.map(({ key, translations }) => [key, translations]),
    [
      ['$settings/confirmations.1.title', { de: 'Hallo {{name}}' }],
      ['$settings/confirmations.1.message', {}],
    ],
  );
  const [, message] = texts;
  const after = applyFormTranslations(document, [{ text: message!, language: 'de', to: 'Fertig' }]).settings;
  assert.deepEqual(checkSettings(after, form).ok, true);
  const closed = listTexts({ ...document, settings: { ...settings, closed_message: 'Closed' } }).at(-3)!;
  assert.equal(closed.key, '$settings/closed_message');
  const other = applyFormTranslations(document, [{ text: closed, language: 'de', to: 'Zu' }]).settings;
  assert.equal(other.confirmations, settings.confirmations, 'what is not changed is shared');
  assert.deepEqual(settingsInLanguage(after, 'de').confirmations, [
    { when, redirect_url: 'https://example.com/' },
    { when, title: 'Hallo {{name}}', message: 'Fertig' },
  ]);
  assert.deepEqual(settingsInLanguage(after, 'ar').confirmations?.[1], {
    when,
    title: 'Hi {{name}}',
    message: 'Done',
  });
  const english = valid(structure([element('text', 'name')], { languages: ['en'] }, {}));
  assert.deepEqual(dropStaleSettings(english, after).confirmations?.[1], {
    when,
    title: 'Hi {{name}}',
    message: 'Done',
  });
  const wrong = checkSettings(
    {
      confirmations: [
        {
          when,
          message: 'Done',
          translations: {
            de: { message: ' ', title: 'x', colour: 'y' },
            ar: { message: '{{gone}}' },
            fr: {},
          },
        },
      ],
    },
    form,
  );
  assert.deepEqual(!wrong.ok && wrong.errors.map(({ field }) => field), [
    'confirmations.0.translations.de.message',
    'confirmations.0.translations.de.title',
    'confirmations.0.translations.de',
    'confirmations.0.translations.ar.message',
    'confirmations.0.translations',
  ]);
  assert.match(
    wrong.ok ? '' : wrong.errors.at(-1)!.message,
    /^"confirmations\.0\.translations" includes "fr", which is not in the form's "languages"/,
  );
});

test('translations of the settings follow the rules of each setting', () => {
  const form = valid(structure());
  const settings: Settings = {
    confirmation_message: 'Thank you, {{name}}.',
    theme: { submit_label: 'Send', color: '#0b6655' },
    translations: { de: { confirmation_message: 'Danke, {{name}}.', 'theme.submit_label': 'Senden' } },
  };
  assert.deepEqual(checkSettings(settings, form), { ok: true, settings, errors: [] });
  assert.deepEqual(settingsInLanguage(settings, 'de'), {
    confirmation_message: 'Danke, {{name}}.',
    theme: { submit_label: 'Senden', color: '#0b6655' },
  });
  const { translations: _translations, ...written } = settings;
  assert.deepEqual(settingsInLanguage(settings, 'ar'), written);
  const errors = (translations: unknown) => {
    const checked = checkSettings({ translations }, form);
    return checked.ok ? [] : checked.errors.map(({ field, message }) => `${field}: ${message}`);
  };
  assert.deepEqual(errors({ fr: {} }), [
    'translations: The translations of the settings include "fr", which is not in the form\'s "languages" ("en", "de", "ar").',
  ]);
  assert.match(
    errors({ de: { redirect_url: 'x' } }).join(),
    /^translations\.de: "redirect_url" is not a setting that can be translated\./,
  );
  assert.match(
    errors({ de: { confirmation_message: '{{gone}}' } }).join(),
    /^translations\.de\.confirmation_message: "confirmation_message" must/,
  );
  assert.match(
    errors({ de: { 'theme.submit_label': 'a\nb' } }).join(),
    /theme\.submit_label" must be one line of text/,
  );
  for (const hostile of [
    7,
    { de: 7 },
    { de: { confirmation_message: 7 } },
    { de: { confirmation_message: '' } },
  ])
    assert.equal(errors(hostile).length, 1, JSON.stringify(hostile));

  assert.deepEqual(dropStaleSettings(form, settings).translations, settings.translations);
  const other = valid(structure([element('text', 'a')], { languages: ['en', 'ar'] }, {}));
  assert.equal(
    dropStaleSettings(other, settings).translations,
    undefined,
    'a language takes its texts along',
  );
});

test('exported texts can be imported again, and a spreadsheet evaluates none of them as formulas', () => {
  const document = {
    structure: structure([
      element('text', 'sum', {
        label: '=1+1',
        help_text: "'s avonds",
        translations: { de: { label: '=2+2' } },
      }),
      colour,
      { type: 'paragraph', attrs: { label: 'Two\nlines, "quoted"' } },
    ]),
    settings: { closed_message: 'Closed' },
  };
  const file = writeTextsFile(document);
  const [step] = document.structure.children!;
  const named = { ...step!, attrs: { ...step!.attrs, id: 'sum' } };
  const sameId = writeTextsFile({ ...document, structure: { ...document.structure, children: [named] } });
  assert.equal(sameId, file, 'a step may have the id of an element');
  assert.deepEqual(file.split('\r\n'), [
    'key,en,de,ar',
    '$form/name,Contact,Kontakt,',
    '$0/title,One,Eins,',
    "sum/label,'=1+1,'=2+2,",
    "sum/help_text,''s avonds,,",
    'colour/label,Colour for {{name}},Farbe für {{name}},',
    'colour/options/Red,Red,Rot,',
    'colour/options/blue,Blue,Blau,',
    '$0.2/label,"Two\nlines, ""quoted""",,',
    '$settings/closed_message,Closed,,',
    '',
  ]);
  assert.deepEqual(readTextsFile(document, file), { ok: true, changes: [], outdated: [] });

  const filled = `key;ar;en\r\nsum/label;'=3+3;=1+1\r\ncolour/options/Red;أحمر;Crimson\r\n$settings/closed_message;مغلق;\r\n\r\n`;
  const read = readTextsFile(document, filled);
  assert.ok(read.ok);
  assert.deepEqual(
    read.outdated.map(({ key }) => key),
    ['colour/options/Red'],
  );
  const after = applyFormTranslations(document, read.changes);
  assert.deepEqual(after.settings.translations, { ar: { closed_message: 'مغلق' } });
  assert.deepEqual(after.structure.children![0]!.children![0]!.attrs!['translations'], {
    de: { label: '=2+2' },
    ar: { label: '=3+3' },
  });
  assert.deepEqual(after.structure.children![0]!.children![1]!.attrs!['translations'], {
    de: { label: 'Farbe für {{name}}', options: { Red: 'Rot', blue: 'Blau' } },
    ar: { options: { Red: 'أحمر' } },
  });
  assert.equal(
    after.structure.children![0]!.children![2],
    document.structure.children![0]!.children![2],
    'what is not changed is shared',
  );
});

test('a file with unknown keys, unknown columns or invalid texts changes nothing and lists every invalid line', () => {
  const document = { structure: structure(), settings: {} };
  const problems = (file: string) => {
    const read = readTextsFile(document, file);
    return read.ok ? [] : read.problems.map(({ line, message }) => `${line}: ${message}`);
  };
  assert.deepEqual(problems('key,fr\nname/label,Nom\n'), [
    '1: Unknown column "fr". Use one of these: "key", "en", "de", "ar".',
  ]);
  assert.deepEqual(
    problems(`key,de\nname/label,${'x'.repeat(1_025)}\ngone/label,Weg\ncolour/options/Red,"a\nb"\n`),
    [
      '2: "name/label" in "de" has more than 1 KB (1024 bytes).',
      '3: The form has no text "gone/label". Remove the line.',
      '4: "colour/options/Red" in "de" must be on one line.',
    ],
  );
  const plain = {
    structure: structure([name], { languages: undefined, translations: undefined }),
    settings: {},
  };
  const untranslated = writeTextsFile({ ...plain, structure: { ...plain.structure, children: [] } });
  assert.equal(untranslated, 'key,text\r\n$form/name,Contact\r\n');
  assert.deepEqual(readTextsFile(plain, untranslated), { ok: true, changes: [], outdated: [] });
  assert.deepEqual(problems(''), ['1: The file is empty.']);
  assert.deepEqual(problems('en,de\nYour name,Ihr Name\n'), ['1: The column "key" is missing. Add it.']);
  assert.deepEqual(problems('key,de,de\nname/label,Name,Name\n'), [
    '1: A column appears more than once. Remove the duplicate.',
  ]);
  assert.deepEqual(problems('key,de\nname/label,\ud800\n'), [
    '2: "name/label" in "de" has an incomplete character.',
  ]);
  const most = formLimits.elements * 8 + formLimits.formOptions;
  assert.deepEqual(problems(`key,de\n${'gone/label,\n'.repeat(most + 1)}`), [
    `1: The file has more than ${most} lines. Remove some lines.`,
  ]);
  assert.match(problems('key,de\nname/label,"Ihr\n').join(), /quotation mark/);
});

test('missing translations are listed, and unused ones can be removed', () => {
  const texts = listTexts({ structure: structure(), settings: { closed_message: 'Closed' } });
  assert.deepEqual(
    untranslatedTexts(texts, 'de').map(({ key }) => key),
    ['name/help_text', '$settings/closed_message'],
  );
  assert.equal(untranslatedTexts(texts, 'ar').length, 6);
  const swept = dropStaleTranslations({ type: 'radio', attrs: { ...colour.attrs, options: ['Red'] } }, [
    'en',
    'de',
  ]);
  assert.deepEqual(swept, { de: { label: 'Farbe für {{name}}', options: { Red: 'Rot' } } });
  assert.equal(dropStaleTranslations({ type: 'radio', attrs: colour.attrs! }, ['en', 'ar']), undefined);
  assert.equal(dropStaleTranslations(element('text', 'name'), ['en', 'de']), undefined);
  assert.deepEqual(dropStaleTranslations({ type: 'text', attrs: colour.attrs! }, ['en', 'de']), {
    de: { label: 'Farbe für {{name}}' },
  });
  for (const broken of [7, null, { children: [null] }, { attrs: { options: [null, 7] }, children: 'x' }])
    listTexts({ structure: { type: 'radio', ...(broken as object) }, settings: {} });
});

test('a requested language matches itself, its base language, or a variant of that language', () => {
  assert.equal(matchLanguage('de-AT', ['en', 'de']), 'de');
  assert.equal(matchLanguage('pt-br', ['pt-PT', 'pt-BR']), 'pt-BR');
  assert.equal(matchLanguage('pt', ['en', 'pt-BR']), 'pt-BR');
  assert.equal(matchLanguage('fr', ['en', 'de']), undefined);
});

test('answers are stemmed by their language; a language that search does not support is not stemmed', () => {
  assert.equal(chooseSearchLanguage({}, null), 'english');
  assert.equal(chooseSearchLanguage({ language: 'simple' }, null), 'simple');
  assert.deepEqual(
    ['de-AT', 'nb', 'ja', 'pt-BR'].map((tag) => chooseSearchLanguage({ language: 'french' }, tag)),
    ['german', 'norwegian', 'simple', 'portuguese'],
  );
});

test('emails are translated: the receipt with the settings, each notification to a visitor with itself', () => {
  const document: EditedForm = {
    structure: structure(),
    settings: {
      receipt: { subject: 'Thanks {{name}}', message: 'Hello' },
      notifications: [
        { to: 'team@example.org', subject: 'New' },
        { to: { answer: 'mail' }, subject: 'For you' },
      ],
    },
  };
  const [receipt, , email, ...others] = listTexts(document).filter(({ path }) => !path);
  assert.deepEqual(
    [receipt?.key, email?.key, others],
    ['$settings/receipt.subject', '$settings/notifications.1.subject', []],
  );
  assert.equal(readTextsFile(document, `key,de\n${email!.key},"a\nb"\n`).ok, false, 'a subject is one line');
  const { settings } = applyFormTranslations(document, [
    { text: receipt!, language: 'de', to: 'Danke {{name}}' },
    { text: email!, language: 'de', to: 'Für dich' },
  ]);
  assert.deepEqual(settings.translations, { de: { 'receipt.subject': 'Danke {{name}}' } });
  assert.deepEqual(settings.notifications?.[1]?.translations, { de: { subject: 'Für dich' } });
  const german = settingsInLanguage(settings, 'de');
  assert.deepEqual(german.receipt, { subject: 'Danke {{name}}', message: 'Hello' });
  assert.deepEqual(german.notifications?.[1], { to: { answer: 'mail' }, subject: 'Für dich' });
});

test('labels and long texts may have two lines; options and button labels may not', () => {
  const document: EditedForm = {
    structure: structure(),
    settings: { closed_message: 'Closed', theme: { submit_label: 'Send' } },
  };
  const twoLines = (key: string): boolean => readTextsFile(document, `key,de\n${key},"a\nb"\n`).ok;
  assert.deepEqual(['name/label', 'name/help_text', '$settings/closed_message'].filter(twoLines).length, 3);
  assert.deepEqual(['colour/options/Red', '$settings/theme.submit_label'].filter(twoLines), []);
});

test('of an incomplete form only complete options and texts are listed, and a text is renamed in every language', () => {
  const options = ['Red', { id: 'a' }, { id: 7, label: 'x' }, { label: 'y' }];
  const listed = listTexts({
    structure: structure([
      element('radio', 'colour', { label: 7, options }),
      element('radio', 'shade', { label: 7, options: 'Red' }),
      element('text', 'blank', { label: ' ' }),
      element('text', '', { label: 'No id', translations: { de: { label: ' ' } } }),
    ]),
    settings: { closed_message: ' ' },
  });
  assert.deepEqual(listed.at(-1)?.translations, {}, 'a blank one says nothing');
  assert.deepEqual(
    listed.map(({ key }) => key),
    ['$form/name', '$0/title', 'colour/options/Red', '$0.3/label'],
  );
  const attrs = { label: 'Hi', translations: { de: { label: 'Hallo', help_text: 'x' }, ar: {} } };
  assert.deepEqual(
    mapTextInAllLanguages(attrs, 'label', (text) => `${text}!`),
    { label: 'Hi!', translations: { de: { label: 'Hallo!', help_text: 'x' }, ar: {} } },
  );
  assert.equal(
    mapTextInAllLanguages(attrs, 'label', (text) => text),
    attrs,
  );
  assert.deepEqual(textInAllLanguages({ label: 'Hi', translations: { de: null } }, 'label'), [
    { language: '', text: 'Hi' },
  ]);
});
