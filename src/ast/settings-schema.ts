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
  access: { enum: [...accessModes], default: 'public', description: 'Who may fill in the form.' },
  password: {
    type: 'string',
    minLength: 4,
    maxLength: 128,
    writeOnly: true,
    description:
      'What visitors are asked for when access is "password". Never returned; left out, it stays; null takes it away.',
  },
  opens_at: moment('Before, the form takes no submissions.'),
  closes_at: moment('From then on, the form takes no submissions.'),
  max_submissions: {
    type: 'integer',
    minimum: 1,
    description: 'The form closes after so many completed submissions: exactly, also when many come at once.',
  },
  closed_message: { ...message, description: `What a closed form says. ${message.description}` },
  confirmation_message: {
    ...message,
    description: `What the page says after a submit. ${message.description}`,
  },
  redirect_url: {
    type: 'string',
    format: 'uri',
    description: 'Where visitors go after they submitted; the receipt is added as the parameter `receipt`.',
  },
  confirmations: {
    type: 'array',
    minItems: 1,
    maxItems: limits.byCondition,
    description:
      'What visitors see in place of `confirmation_message` and `redirect_url`, by conditions over their answers: of several, the first that holds.',
    examples: [[{ when: { reference: 'plan', is: 'equals', value: 'pro' }, message: 'We call you.' }]],
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
          description: "Its texts in the form's other languages.",
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
      'Who else gets a mail for a completed submission, always or where a condition holds: addresses as in `notification_email`, at once; or the answer to an email element, which gets a receipt.',
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
              properties: { answer: { type: 'string', description: 'The id of an email element.' } },
            },
          ],
        },
      },
    },
  },
  notification_email: {
    type: 'string',
    description: `Who gets a mail for completed submissions: an email address, or up to ${limits.notificationAddresses} with commas between them.`,
  },
  notification_digest: {
    enum: [...digestModes],
    default: 'each',
    description:
      'A mail for each submission, or one for those of an hour or of a day (at 08:00 in `time_zone`).',
  },
  receipt_email_element: {
    type: 'string',
    description: 'The id of the email element whose answer gets a receipt.',
  },
  receipt_answers: flag(
    'Whether the receipt repeats the answers. Nobody has checked that the address belongs to whoever entered it, so anybody can have any text mailed to anybody.',
  ),
  save_progress: flag('Whether unfinished answers are kept, as incomplete submissions with a link to go on.'),
  resume_days: count(1, 365, 'For how many days after the last save a link to go on works; 30 by default.'),
  review_step: flag(
    'Whether a last step lists every answer, with a way to change each, before they are sent.',
  ),
  layout: {
    enum: [...formLayouts],
    default: 'page',
    description:
      'How the form asks: a step at a time, or one question at a time, where a group stays together. JSON is not concerned.',
  },
  editing: flag('Whether visitors get a link to change what they submitted.'),
  edit_days: count(1, 3_650, 'For how many days after the submit a link to change it works; 365 by default.'),
  analytics: {
    type: 'boolean',
    default: true,
    description:
      'Whether visits of the page are counted: views, starts, steps reached, the question that was touched last. No visit is kept.',
  },
  min_seconds: count(
    1,
    600,
    'Answers that come sooner after the page of the form are held in the spam box; posts without that page have no such time.',
  ),
  limit_per_address: count(1, 1_000_000, 'Submissions in an hour from one address; more are refused (429).'),
  limit_per_form: count(1, 1_000_000, 'Submissions in an hour in all; more are refused (429).'),
  proof_of_work: flag(
    'Whether browsers have to work for about a second; answers without are held in the spam box, unless `embed_origins` names the site that sends them.',
  ),
  subject_element: {
    type: 'string',
    description: 'The id of the text element that search ranks highest; without it, "subject", or the first.',
  },
  language: { enum: Object.keys(languages), default: 'english', description: 'The language of the search.' },
  time_zone: {
    type: 'string',
    default: 'UTC',
    description: 'The time zone of "today" in rules and conditions, like Europe/Berlin.',
  },
  translations: {
    type: 'object',
    description:
      "The texts of the settings in the form's other languages: by the language, and the name of the setting, `theme.submit_label` for one of the theme.",
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(settingTexts.map((name) => [name, { type: 'string', minLength: 1 }])),
    },
    examples: [{ de: { confirmation_message: 'Vielen Dank.' } }],
  },
  locale: { enum: [...localeChoices], default: 'auto', description: "The language of the page's own words." },
  theme: reference('Theme'),
  embed_origins: {
    type: 'array',
    items: { type: 'string' },
    description:
      'Origins like `https://example.com` or `https://*.example.com` whose pages may show the form inside them and post to it; others are refused. No list: any may. An empty one: none may.',
  },
};

const colour = (description: string) => ({ type: 'string', pattern: '^#[0-9a-fA-F]{6}$', description });
const image = (description: string) => ({ type: 'string', format: 'uuid', description });
const line = (description: string) => ({
  type: 'string',
  description: `${description} One line of at most ${limits.labelBytes} bytes of UTF-8.`,
});
const theme: Readonly<Record<keyof Theme, object>> = {
  color: colour('The accent: buttons, the chosen, the focus. Text on it needs a contrast of 4.5:1.'),
  background: colour('What the page lies on.'),
  paper: colour('What the questions stand on. The text on it needs a contrast of 10:1.'),
  font: { type: 'string', enum: [...fontNames] },
  corner: { type: 'string', enum: [...corners] },
  density: { type: 'string', enum: [...densities] },
  mode: { type: 'string', enum: [...modes] },
  logo: image('The id of an image of the workspace, above the title.'),
  logo_dark: image('The id of the image in its place on a dark page.'),
  cover: image('The id of the image across the top.'),
  submit_label: line('What the last button says.'),
  confirmation_title: line('The heading of the page after a submission.'),
  short_reference: flag(
    'Whether that page shows a short reference, like `K7QF2-9XM4D`, in place of the whole receipt. Searching for it finds the submission.',
  ),
  favicon: image("The id of the image in the browser's tab, best a square."),
  social_title: line("What sites that show a link say of it, in place of the form's name."),
  social_image: image('The id of the picture that they show, best 1200 by 630 pixels.'),
};

/** A schema that takes null as well, which a request takes a setting away by. */
const orNull = (schema: object): object =>
  'enum' in schema
    ? { ...schema, type: ['string', 'null'], enum: [...(schema.enum as string[]), null] }
    : 'type' in schema
      ? { ...schema, type: [schema.type, 'null'] }
      : { anyOf: [schema, { type: 'null' }] };

const mapValues = (record: Readonly<Record<string, object>>, change: (schema: object) => object) =>
  Object.fromEntries(Object.entries(record).map(([name, schema]) => [name, change(schema)]));

/** Every setting for OpenAPI (docs/decisions/0005), as `Settings` are read and as a request changes them. */
export function settingsSchemas(): Record<'Settings' | 'SettingsChange' | 'Theme', object> {
  const { password: _, ...shown } = schemas;
  return {
    Settings: {
      type: 'object',
      description: 'Settings of a form. What is not there is not set.',
      additionalProperties: false,
      properties: shown,
    },
    SettingsChange: {
      type: 'object',
      description: 'Settings of a form. Unknown keys are refused; null takes a setting away.',
      additionalProperties: false,
      properties: mapValues(schemas, orNull),
    },
    Theme: {
      type: 'object',
      description: 'How the public page looks. What is absent is as in a form without a theme.',
      additionalProperties: false,
      properties: theme,
    },
  };
}
