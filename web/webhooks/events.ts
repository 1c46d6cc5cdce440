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
