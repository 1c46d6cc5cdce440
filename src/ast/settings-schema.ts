import { languages } from './basics/languages.ts';
import { limits } from './basics/limits.ts';
import { localeChoices } from './basics/locales.ts';
import { accessModes, digestModes, formLayouts, type SettingName } from './settings.ts';
import { corners, densities, fontNames, modes, type Theme } from './theme/theme.ts';
import { settingTexts } from './translations/check-translations.ts';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const message = { type: 'string', description: `At most ${limits.textBytes} bytes of UTF-8.` };
const count = (minimum: number, maximum: number, description: string) => ({
  type: 'integer',
  minimum,
  maximum,
  description,
});
const flag = (description: string) => ({ type: 'boolean', default: false, description });
const moment = (description: string) => ({ type: 'string', format: 'date-time', description });

const schemas: Readonly<Record<SettingName, object>> = {
  access: { enum: [...accessModes], default: 'public', description: 'Who can fill in the form.' },
  password: {
    type: 'string',
    minLength: 4,
    maxLength: 128,
    writeOnly: true,
    description:
      'The password that visitors enter if access is "password". Never returned. Omit it to keep it; null removes it.',
  },
  opens_at: moment('The form accepts no submissions before this time.'),
  closes_at: moment('The form accepts no submissions from this time on.'),
  max_submissions: {
    type: 'integer',
    minimum: 1,
    description:
      'The form closes after this many completed submissions. Exact, also under concurrent requests.',
  },
  closed_message: { ...message, description: `The message of a closed form. ${message.description}` },
  confirmation_message: {
    ...message,
    description: `The message after a submission. ${message.description}`,
  },
  redirect_url: {
    type: 'string',
    format: 'uri',
    description: 'The URL that visitors go to after submitting, with the receipt as the parameter `receipt`.',
  },
  confirmations: {
    type: 'array',
    minItems: 1,
    maxItems: limits.byCondition,
    description:
      'What visitors see instead of `confirmation_message` and `redirect_url`, by conditions over their answers. The first match is shown.',
    examples: [[{ when: { reference: 'plan', is: 'equals', value: 'pro' }, message: 'We will call you.' }]],
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['when'],
      properties: {
        when: reference('Condition'),
        title: { type: 'string', description: 'The heading of the page after the submission.' },
        message,
        redirect_url: { type: 'string', format: 'uri' },
        translations: {
          type: 'object',
          description: 'Its texts in the other languages of the form.',
          additionalProperties: {
            type: 'object',
            additionalProperties: false,
            properties: {
              title: { type: 'string', minLength: 1 },
              message: { type: 'string', minLength: 1 },
            },
          },
          examples: [{ de: { message: 'Wir rufen Sie an.' } }],
        },
      },
    },
  },
  notifications: {
    type: 'array',
    minItems: 1,
    maxItems: limits.byCondition,
    description:
      'More emails for a completed submission, always or by a condition: to addresses as in `notification_email`, immediately; or a receipt to the answer of an email element.',
    examples: [[{ when: { reference: 'plan', is: 'equals', value: 'pro' }, to: 'sales@example.com' }]],
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['to'],
      properties: {
        when: reference('Condition'),
        to: {
          anyOf: [
            { type: 'string' },
            {
              type: 'object',
              additionalProperties: false,
              required: ['answer'],
              properties: { answer: { type: 'string', description: 'The ID of an email element.' } },
            },
          ],
        },
      },
    },
  },
  notification_email: {
    type: 'string',
    description: `Who is emailed about completed submissions: an email address, or up to ${limits.notificationAddresses} separated by commas.`,
  },
  notification_digest: {
    enum: [...digestModes],
    default: 'each',
    description:
      'One email for each submission, or one for those of an hour or a day (at 08:00 in `time_zone`).',
  },
  receipt_email_element: {
    type: 'string',
    description: 'The ID of the email element whose answer gets a receipt.',
  },
  receipt_answers: flag(
    'Whether the receipt repeats the answers. Addresses are not verified, so visitors can have any text emailed to any address.',
  ),
  save_progress: flag(
    'Whether unfinished answers are saved, as incomplete submissions with a link to resume.',
  ),
  resume_days: count(1, 365, 'How many days after the last save the resume link works. 30 by default.'),
  review_step: flag('Whether a last step lists every answer for review before submitting.'),
  layout: {
    enum: [...formLayouts],
    default: 'page',
    description:
      'How the page asks: one step at a time, or one question at a time (groups stay together). Has no effect on JSON.',
  },
  editing: flag('Whether visitors get a link to edit their submission.'),
  edit_days: count(1, 3_650, 'How many days after submitting the edit link works. 365 by default.'),
  analytics: {
    type: 'boolean',
    default: true,
    description:
      'Whether the page counts views, starts, reached steps and the last question touched. Single visits are not stored.',
  },
  min_seconds: count(
    1,
    600,
    'Submissions faster than this many seconds after loading the page are treated as spam. Has no effect on posts without the page.',
  ),
  limit_per_address: count(
    1,
    1_000_000,
    'Hourly limit of submissions per IP address. More are rejected (429).',
  ),
  limit_per_form: count(1, 1_000_000, 'Hourly limit of submissions of the form. More are rejected (429).'),
  proof_of_work: flag(
    'Whether browsers must solve a one-second challenge. Submissions without it are treated as spam, unless `embed_origins` lists the site that sends them.',
  ),
  subject_element: {
    type: 'string',
    description:
      'The ID of the text element that search ranks highest. By default "subject", or the first text element.',
  },
  language: { enum: Object.keys(languages), default: 'english', description: 'The language of the search.' },
  time_zone: {
    type: 'string',
    default: 'UTC',
    description: 'The time zone of "today" in rules and conditions, like Europe/Berlin. UTC by default.',
  },
  translations: {
    type: 'object',
    description:
      'The texts of the settings in the other languages of the form, by language and setting name (`theme.submit_label` for a text of the theme).',
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(settingTexts.map((name) => [name, { type: 'string', minLength: 1 }])),
    },
    examples: [{ de: { confirmation_message: 'Vielen Dank.' } }],
  },
  locale: {
    enum: [...localeChoices],
    default: 'auto',
    description: "The language of the page's built-in texts.",
  },
  theme: reference('Theme'),
  embed_origins: {
    type: 'array',
    items: { type: 'string' },
    description:
      'Origins like `https://example.com` or `https://*.example.com` whose pages can embed the form and post to it. Without a list, all can. With an empty list, none can.',
  },
};

const colour = (description: string) => ({ type: 'string', pattern: '^#[0-9a-fA-F]{6}$', description });
const image = (description: string) => ({ type: 'string', format: 'uuid', description });
const line = (description: string) => ({
  type: 'string',
  description: `${description} One line, at most ${limits.labelBytes} bytes of UTF-8.`,
});
const theme: Readonly<Record<keyof Theme, object>> = {
  color: colour(
    'The accent color of buttons, selected options and focus. Text on it needs a contrast of 4.5:1.',
  ),
  background: colour('The background color of the page.'),
  paper: colour('The color behind the questions. Text on it needs a contrast of 10:1.'),
  font: { type: 'string', enum: [...fontNames] },
  corner: { type: 'string', enum: [...corners] },
  density: { type: 'string', enum: [...densities] },
  mode: { type: 'string', enum: [...modes] },
  logo: image('The ID of a workspace image, shown above the title.'),
  logo_dark: image('The ID of the image that replaces it in dark mode.'),
  cover: image('The ID of the image across the top.'),
  submit_label: line('The label of the submit button.'),
  confirmation_title: line('The heading of the page after a submission.'),
  short_reference: flag(
    'Whether that page shows a short reference, like `K7QF2-9XM4D`, instead of the whole receipt. Search finds the submission by it.',
  ),
  favicon: image('The ID of the browser tab icon, preferably square.'),
  social_title: line("The title in link previews, instead of the form's name."),
  social_image: image('The ID of the image in link previews, preferably 1200 by 630 pixels.'),
};

/** Returns a schema that also accepts null, with which a request removes a setting. */
const orNull = (schema: object): object =>
  'enum' in schema
    ? { ...schema, type: ['string', 'null'], enum: [...(schema.enum as string[]), null] }
    : 'type' in schema
      ? { ...schema, type: [schema.type, 'null'] }
      : { anyOf: [schema, { type: 'null' }] };

const mapValues = (record: Readonly<Record<string, object>>, change: (schema: object) => object) =>
  Object.fromEntries(Object.entries(record).map(([name, schema]) => [name, change(schema)]));

/**
 * Returns the schemas of all settings for OpenAPI (docs/decisions/0005): `Settings` in responses, and their
 * changes in requests.
 */
export function settingsSchemas(): Record<'Settings' | 'SettingsChange' | 'Theme', object> {
  const { password: _, ...shown } = schemas;
  return {
    Settings: {
      type: 'object',
      description: 'Settings of a form. Absent settings are not set.',
      additionalProperties: false,
      properties: shown,
    },
    SettingsChange: {
      type: 'object',
      description: 'Settings of a form. Unknown keys are rejected; null removes a setting.',
      additionalProperties: false,
      properties: mapValues(schemas, orNull),
    },
    Theme: {
      type: 'object',
      description: 'The look of the public page. Absent keys have their default.',
      additionalProperties: false,
      properties: theme,
    },
  };
}
