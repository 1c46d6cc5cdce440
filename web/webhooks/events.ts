import { own } from '#ast/basics/json.ts';
import type { Webhook } from '#webhooks/shapes.ts';

export type EventKind = Webhook['events'][number];

/** The events in the words of people. Specification, "Event kinds". */
const sentences: Readonly<Record<EventKind, readonly [label: string, sentence: string]>> = {
  'submission.created': ['Created', 'Somebody completes and submits the form.'],
  'submission.updated': ['Updated', 'Answers, reference data or the status of a submission change.'],
  'submission.deleted': ['Deleted', 'A submission is deleted for good, alone or with others.'],
};

/** For check boxes and menus: every event with a sentence. */
export const eventChoices = (Object.keys(sentences) as EventKind[]).map((id) => {
  const [label, description] = sentences[id];
  return { id, label, description };
});

/** One word for an event. */
export const shortEvent = (kind: string): string => own(sentences, kind)?.[0] ?? kind;
