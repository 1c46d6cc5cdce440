import type { EventKind, Snapshot } from './event.ts';

export type BodySource = {
  kind: EventKind;
  occurredAt: Date;
  deliveryId: string;
  snapshot: Snapshot;
  /** The download address of a file: it lives for an hour, so it is made for each send. */
  signLink: (fileId: string) => string;
};

/**
 * The JSON text that is signed and sent. Specification, "Request body". Every send of a delivery has the same text,
 * but for the links. A file also has its `id`, with which a new link can be asked for.
 */
export function deliveryBody({ kind, occurredAt, deliveryId, snapshot, signLink }: BodySource): string {
  const { form, submission } = snapshot;
  const uploads = Object.entries(submission.file_uploads).map(([element, files]) => [
    element,
    files.map(({ filename, ...file }) => ({ filename, url: signLink(file.id), ...file })),
  ]);
  return JSON.stringify({
    event: kind,
    timestamp: occurredAt.toISOString(),
    delivery_id: deliveryId,
    form,
    submission: { ...submission, file_uploads: Object.fromEntries(uploads) },
  });
}
