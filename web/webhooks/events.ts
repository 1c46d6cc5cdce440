import { getProperty } from '#ast/basics/json.ts';
import type { Webhook } from '#webhooks/shapes.ts';

export type EventKind = Webhook['events'][number];

/** The labels and descriptions of the events. Specification, "Event kinds". */
const sentences: Readonly<Record<EventKind, readonly [label: string, sentence: string]>> = {
  'submission.created': ['Submission created', 'A visitor submits the form, or joins its waiting list.'],
  'submission.updated': [
    'Submission updated',
    'The answers, reference data or status of a submission change.',
  ],
  'submission.deleted': [
    'Submission deleted',
    'A submission is permanently deleted, individually or in bulk.',
  ],
};

/** The events as choices for checkboxes and menus. */
export const eventChoices = (Object.keys(sentences) as EventKind[]).map((id) => {
  const [label, description] = sentences[id];
  return { id, label, description };
});

/** Returns the label of an event. */
export const eventLabel = (kind: string): string => getProperty(sentences, kind)?.[0] ?? kind;

export type WebhookFormat = Webhook['format'];

/** The formats of webhooks, each with the URL that it needs. */
const formats: Readonly<Record<WebhookFormat, { label: string; url: string }>> = {
  standard: { label: 'Standard JSON', url: 'A JSON document with all data of the event.' },
  slack: { label: 'Slack', url: 'A message. Enter the URL of a Slack incoming webhook.' },
  discord: { label: 'Discord', url: 'A message. Enter the URL of a Discord channel webhook.' },
  teams: {
    label: 'Microsoft Teams',
    url: 'A message. Enter the URL of a Teams workflow that starts when a webhook request is received.',
  },
  telegram: {
    label: 'Telegram',
    url: 'A message. Enter https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>.',
  },
  template: { label: 'Custom JSON', url: 'Your own JSON, with placeholders for answers and other data.' },
};

export const formatLabel = (format: WebhookFormat): string => formats[format].label;
export const formatHelp = (format: WebhookFormat): string => formats[format].url;
export const formatChoices = Object.entries(formats).map(([id, { label }]) => ({
  id: id as WebhookFormat,
  label,
}));
