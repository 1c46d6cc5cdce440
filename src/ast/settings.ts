import { getProperty, isRecord, isSameJson, withoutNulls } from './basics/json.ts';
import { formLimits } from './basics/limits.ts';
import { quote } from './basics/problems.ts';
import { canPipeInSettings, fillPiped } from './form/piping.ts';
import { type Form, languagesOf } from './form/tree.ts';
import { isSubjectElement } from './searchable.ts';
import { findConfirmationProblems } from './settings-by-condition.ts';
import { findNotificationProblems, isReceiptElement, mendEmail, mendEmailText } from './settings-email.ts';
import {
  describedSchema,
  type SettingKind,
  type SettingsError,
  type SettingTexts,
  settingProblemsOf,
} from './settings-kinds.ts';
import { type SettingName, type Settings, settingNames, settingRow, settingRows } from './settings-table.ts';
import { themeParts } from './theme/check-theme.ts';
import {
  dropRemovedLanguages,
  mapAllSettingTexts,
  mapEntryTexts,
} from './translations/check-translations.ts';

export {
  type AccessMode,
  accessModes,
  type DigestMode,
  digestModes,
  type SettingName,
  type Settings,
} from './settings-table.ts';

/** Returns for how many days after a submission the visitor's edit link works (docs/decisions/0014). */
export const editDaysOf = ({
  edit_days: days = settingRows.edit_days.default,
}: Pick<Settings, 'edit_days'>): number => days;

/** The valid settings, and the problems of the others. */
type SettingsResult = {
  readonly ok: boolean;
  readonly settings: Settings;
  readonly errors: readonly SettingsError[];
};

/**
 * Checks the settings of a form and returns every problem. `form` is its structure, if there is one; settings
 * that name an element are checked against it. Null at any depth clears a key. Each unknown key is rejected
 * and named.
 */
export function checkSettings(input: unknown, form: Form | undefined): SettingsResult {
  if (!isRecord(input))
    return {
      ok: false,
      settings: {},
      errors: [{ field: 'settings', message: 'The settings must be an object.', code: 'invalid_type' }],
    };
  const settings: Record<string, unknown> = {};
  const errors: SettingsError[] = [];
  for (const field of settingNames) {
    const value = withoutNulls(getProperty(input, field) ?? null);
    if (value === null) continue;
    const row = settingRow(field);
    const problems = settingProblemsOf(field, row, value, form);
    if (problems.length === 0) settings[field] = row.tidy ? row.tidy(value) : value;
    else errors.push(...problems);
  }
  errors.push(...checkPeriod(settings));
  const unknown = Object.keys(input).filter((key) => !Object.hasOwn(settingRows, key));
  for (const field of unknown.slice(0, formLimits.structureErrors))
    errors.push({
      field,
      code: 'unknown_field',
      message: `Unknown setting ${quote(field)}. Use one of these: ${settingNames.join(', ')}.`,
    });
  return { ok: errors.length === 0, settings, errors };
}

function checkPeriod({ opens_at: opens, closes_at: closes }: Settings): SettingsError[] {
  if (!opens || !closes || Date.parse(closes) > Date.parse(opens)) return [];
  return [{ field: 'closes_at', message: '"closes_at" must be later than "opens_at".', code: 'too_small' }];
}

/** Returns stored settings without references to removed elements and languages, which would block other changes. */
export function dropStaleSettings(form: Form, settings: Settings): Settings {
  const { receipt_email_element: receipt, subject_element: subject } = settings;
  const { certificate_name_element: named } = settings;
  const others = languagesOf(form).slice(1);
  const mend = (text: string): string =>
    fillPiped(text, (id) => (canPipeInSettings(form, id) ? `{{${id}}}` : ''));
  const kept = mapAllSettingTexts(dropRemovedLanguages<Settings>(settings, others), (text, name) =>
    name.startsWith('receipt.') ? mendEmailText(form, text) : mend(text),
  );
  const confirmations = settings.confirmations
    ?.map((each) => mapEntryTexts(dropRemovedLanguages(each, others), mend))
    .filter((each) => findConfirmationProblems([each], form).length === 0);
  const notifications = settings.notifications
    ?.map((each) => mendEmail(form, dropRemovedLanguages(each, others)))
    .filter((each) => findNotificationProblems([each], form).length === 0);
  const mended: Settings = {
    ...kept,
    ...(kept.receipt && { receipt: mendEmail(form, kept.receipt) }),
    ...(confirmations && { confirmations }),
    ...(notifications && { notifications }),
  };
  const gone = new Set([
    ...(receipt !== undefined && !isReceiptElement(receipt, form) ? ['receipt_email_element'] : []),
    ...(subject !== undefined && !isSubjectElement(subject, form) ? ['subject_element'] : []),
    ...(named !== undefined && !isSubjectElement(named, form) ? ['certificate_name_element'] : []),
    ...(confirmations?.length === 0 ? ['confirmations'] : []),
    ...(notifications?.length === 0 ? ['notifications'] : []),
  ]);
  return Object.fromEntries(Object.entries(mended).filter(([name]) => !gone.has(name)));
}

/** Returns the names of the settings that differ. */
export function changedSettings(before: Settings, after: Settings): SettingName[] {
  const names = Object.keys({ ...before, ...after }) as SettingName[];
  return names.filter((name) => !isSameJson(before[name], after[name]));
}

/**
 * Merges two versions of the settings, setting by setting. If both changed a setting since `base` to
 * different values, `mine` wins and the conflicts include its name.
 */
export function mergeSettings(
  base: Settings,
  mine: Settings,
  theirs: Settings,
): { settings: Settings; conflicts: readonly SettingName[] } {
  const ours = new Set(changedSettings(base, mine));
  const changed = changedSettings(base, theirs);
  const merged = {
    ...mine,
    ...Object.fromEntries(changed.filter((name) => !ours.has(name)).map((name) => [name, theirs[name]])),
  };
  return {
    settings: Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)),
    conflicts: changed.filter((name) => ours.has(name) && !isSameJson(mine[name], theirs[name])),
  };
}

/** Returns a schema that also accepts null, which clears a setting. */
const orNull = (schema: object): object =>
  'enum' in schema
    ? { ...schema, type: ['string', 'null'], enum: [...(schema.enum as string[]), null] }
    : 'type' in schema
      ? { ...schema, type: [schema.type, 'null'] }
      : { anyOf: [schema, { type: 'null' }] };

const schemasOf = (
  rows: Readonly<Record<string, SettingKind<unknown> & SettingTexts>>,
  change = (schema: object) => schema,
) => Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, change(describedSchema(row))]));

/**
 * The OpenAPI schemas of the settings (docs/decisions/0005): `Settings` for responses, `SettingsChange` for
 * requests.
 */
export function settingsSchemas(): Record<'Settings' | 'SettingsChange' | 'Theme', object> {
  const { password: _, ...shown } = settingRows;
  return {
    Settings: {
      type: 'object',
      description: 'Settings of a form. Settings that are not set are omitted.',
      additionalProperties: false,
      properties: schemasOf(shown),
    },
    SettingsChange: {
      type: 'object',
      description: 'Settings of a form. Unknown keys are refused; `null` removes a setting.',
      additionalProperties: false,
      properties: schemasOf(settingRows, orNull),
    },
    Theme: {
      type: 'object',
      description: 'How the public page looks. Omitted parts use their defaults.',
      additionalProperties: false,
      properties: schemasOf(themeParts),
    },
  };
}
